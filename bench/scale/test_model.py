"""The arithmetic of the model, with costs that can be checked by hand: python3 -m unittest discover bench/scale."""

import json
import tempfile
import unittest
from pathlib import Path

import model

COSTS = {
    "tokens_a_page": 500,
    "cores_a_machine": 10,
    "hours": 24,
    "longest_efficiency": 0.5,
    "seconds_between_requests": 2,
    "pages_a_day_of_a_host": 100,
    "fetch_cpu_ms_a_page": 1,
    "wire_kb_a_page": 10.8,
    "raw_kb_a_page": 20,
    "clean_cpu_ms_a_page": 3.6,
    "annotate_cpu_us_a_token": 7.2,
    "dedup_cpu_us_a_token": 0.36,
    "dedup_bytes_a_token": 2,
    "compile_cpu_us_a_token": 0.36,
    "index_bytes_a_token": 5,
    "docs_bytes_a_token": 3,
    "text_bytes_a_token": 4,
    "speedup_of_two": 1.8,
    "query_cpu_ms_first_page": 1,
    "query_cpu_ms_pattern": 200,
    "query_tokens": 1e8,
}


class Arithmetic(unittest.TestCase):
    def test_steps_and_folders_of_a_million_pages(self):
        made = model.predict(COSTS, 1e6)
        self.assertEqual(made.tokens, 5e8)
        expected = {"fetch": 1000 / 3600, "clean": 1.0, "dedup": 0.05, "annotate": 1.0, "compile": 0.05}
        for step, hours in expected.items():
            self.assertAlmostEqual(made.cpu_hours[step], hours, msg=step)
        self.assertEqual(made.gb, {"pages": 20, "docs": 1.5, "seen": 1, "text": 2, "index": 2.5})

    def test_twice_the_pages_are_twice_the_work(self):
        one, two = model.predict(COSTS, 3e6), model.predict(COSTS, 6e6)
        for step, hours in one.cpu_hours.items():
            self.assertAlmostEqual(two.cpu_hours[step], 2 * hours)

    def test_efficiency_falls_with_each_doubling_to_the_least(self):
        self.assertEqual(model.efficiency(COSTS, 1), 1)
        self.assertAlmostEqual(model.efficiency(COSTS, 2), 0.9)
        self.assertAlmostEqual(model.efficiency(COSTS, 4), 0.81)
        self.assertEqual(model.efficiency(COSTS, 1e6), 0.5)
        self.assertEqual(model.efficiency(COSTS | {"speedup_of_two": 2.4}, 8), 1, "no speed-up is beyond the cores")

    def test_deduplication_is_not_divided(self):
        made = model.predict(COSTS, 1e9)
        self.assertAlmostEqual(made.cpu_hours["dedup"], 50)
        self.assertGreater(model.hours(COSTS, made, 1000), 50)
        self.assertIsNone(model.machines(COSTS, made, 24))

    def test_the_number_of_machines_is_the_least(self):
        made = model.predict(COSTS, 1e8)
        number = model.machines(COSTS, made, 12)
        self.assertLessEqual(model.hours(COSTS, made, number), 12)
        self.assertGreater(model.hours(COSTS, made, number - 1), 12)
        self.assertEqual(model.machines(COSTS, made, 1000), 1)

    def test_a_harvest_needs_hosts_and_bandwidth(self):
        self.assertEqual(model.hosts_for(COSTS, 1e6), (1e4, 200 / 3600))
        self.assertAlmostEqual(model.mbit_a_second(COSTS, 1e6), 1.0)

    def test_a_first_page_does_not_grow_and_a_count_does(self):
        first, whole = model.query_ms(COSTS, 1e9, 1)
        self.assertEqual((first, whole), (1, 2000))

    def test_numbers_have_three_digits(self):
        self.assertEqual([model.number(n) for n in (1234.5, 99.94, 1.26, 0.126)], ["1,234", "99.9", "1.3", "0.13"])
        self.assertEqual([model.size(n) for n in (0.5, 20, 2500)], ["0.5 GB", "20.0 GB", "2.5 TB"])


class Inputs(unittest.TestCase):
    def test_every_cost_is_found_in_its_result(self):
        costs = model.read_costs()
        self.assertLessEqual(set(COSTS), set(costs))
        self.assertGreater(costs["speedup_of_two"], 1)

    def test_a_cost_that_is_missing_or_zero_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder)
            table = {"costs": {"a": {"file": "r.json", "path": ["x"], "per": 2}}, "assumptions": {}}
            (results / "costs.json").write_text(json.dumps(table))
            for result, fails in (({"x": 4}, None), ({"x": 0}, ValueError), ({"y": 4}, KeyError)):
                (results / "r.json").write_text(json.dumps(result))
                if fails:
                    self.assertRaises(fails, model.read_costs, results / "costs.json", results)
                else:
                    self.assertEqual(model.read_costs(results / "costs.json", results), {"a": 2})

    def test_tables_are_replaced_between_their_marks(self):
        page = f"before\n{model.BEGIN}old\n{model.END}after\n"
        self.assertEqual(model.replaced(page, "new\n"), f"before\n{model.BEGIN}new\n{model.END}after\n")


if __name__ == "__main__":
    unittest.main()
