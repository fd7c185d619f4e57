"""Work for several processes, whose arguments are made when they are needed."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from discoprobe.loaders.process_pool import in_order


def slower_first(number, _):
    time.sleep(0.05 * (3 - number % 3))
    return number


def fails_at_two(number, _):
    if number == 2:
        raise ValueError(number)
    return number


def taken(n, seen):
    for number in range(n):
        seen.append(number)
        yield number, "argument"


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_results_are_in_order_and_few_arguments_are_made_in_advance(workers):
    seen, n_made = [], []
    with ThreadPoolExecutor(max(1, workers)) as executor:
        results = []
        for result in in_order(slower_first, taken(7, seen), executor if workers else None, workers):
            n_made.append(len(seen) - len(results))
            results.append(result)
    assert results == list(range(7))
    assert max(n_made) <= workers + 1


def test_an_error_ends_it_where_it_happens():
    with ThreadPoolExecutor(2) as executor:
        results = in_order(fails_at_two, taken(5, []), executor, 2)
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(ValueError, match="2"):
            next(results)
