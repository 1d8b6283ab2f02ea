import pytest

from uulearn import results


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """Every experiment at the preset smoke, in one folder; what each of them came to; the seconds it took."""
    pytest.importorskip("torch")
    import time

    from uulearn.paper import reproduce
    from uulearn.paper.specs import SPECS

    folder, start = tmp_path_factory.mktemp("smoke"), time.process_time()
    outcomes = {name: reproduce(name, "smoke", output=folder) for name in SPECS}
    return folder, outcomes, time.process_time() - start


@pytest.fixture(scope="session")
def runs(smoke):
    """All their records."""
    return [run for path in sorted(smoke[0].glob("*.jsonl")) for run in results.read(path)]
