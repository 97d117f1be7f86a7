"""The pictures of docs/images are those that the program draws. The program is named by PENSTOCK_PROGRAM."""

import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

PROGRAM = os.environ.get("PENSTOCK_PROGRAM", "")
IMAGES = Path(__file__).resolve().parents[2] / "docs/images"
SVG = "{http://www.w3.org/2000/svg}"
MAX_BYTES = 40_000


class PicturesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name) / "new"
        cls.printed = subprocess.run([PROGRAM, "demo", "--svg", str(cls.folder)], capture_output=True, encoding="utf-8",
                                     timeout=60, check=True).stdout
        cls.pictures = {path.name: path.read_text(encoding="utf-8") for path in cls.folder.iterdir()}

    def test_docs_images_are_up_to_date(self):
        kept = {path.name: path.read_text(encoding="utf-8") for path in IMAGES.glob("*.svg")}
        self.assertEqual(set(kept), set(self.pictures))
        for name, text in self.pictures.items():
            self.assertTrue(kept[name] == text, f"docs/images/{name} differs; `make pictures` updates it")

    def test_it_names_the_files_that_it_wrote(self):
        self.assertEqual({Path(line).name for line in self.printed.splitlines()}, set(self.pictures))

    def test_every_algorithm_and_every_topic_has_a_picture(self):
        for name in ("token_bucket", "gcra", "fixed_window", "anchored_window", "sliding_log", "sliding_counter",
                     "sub_windows"):
            self.assertIn(f"algorithm_{name}.svg", self.pictures)
        for name in ("algorithms", "leases", "redis_outage", "architecture"):
            self.assertIn(f"{name}.svg", self.pictures)

    def test_they_are_small_accessible_svg_without_scripts(self):
        for name, text in self.pictures.items():
            root = xml.etree.ElementTree.fromstring(text)
            self.assertEqual(root.tag, SVG + "svg")
            for part in ("title", "desc"):
                self.assertTrue(root.find(SVG + part).text, name)
            self.assertEqual(list(root.iter(SVG + "script")), [], name)
            self.assertNotRegex(text, r"href|\son\w+=|url\(", name)
            self.assertIn("prefers-color-scheme:dark", text)
            self.assertLess(len(text), MAX_BYTES, name)

    def test_nothing_is_drawn_outside_the_picture(self):
        for name, text in self.pictures.items():
            root = xml.etree.ElementTree.fromstring(text)
            width, height = int(root.get("width")), int(root.get("height"))
            for element in root.iter():
                for attribute, most in (("x", width), ("x1", width), ("x2", width), ("cx", width),
                                        ("y", height), ("y1", height), ("y2", height), ("cy", height)):
                    if element.get(attribute) is not None:
                        self.assertTrue(0 <= int(element.get(attribute)) <= most, (name, element.attrib))

    def test_the_fixed_window_admits_twice_the_limit_and_the_sliding_log_does_not(self):
        self.assertIn("most in any 10 s: 20 (limit 10)", self.pictures["algorithm_fixed_window.svg"])
        self.assertNotIn("most in any 10 s: 1[1-9]", self.pictures["algorithm_sliding_log.svg"])
        self.assertEqual(re.findall(r"most in any 10 s: (\d+)", self.pictures["algorithm_sliding_log.svg"]), ["10", "10"])

    def test_leases_save_most_redis_calls(self):
        found = re.findall(r"(\d+) requests, (\d+) of them decided locally, (\d+) Redis calls",
                           self.pictures["leases.svg"])
        self.assertEqual(len(found), 2)
        for requests, local, calls in (map(int, numbers) for numbers in found):
            self.assertGreater(local, requests * 8 // 10)
            self.assertLess(calls, requests // 4)

    def test_an_outage_admits_no_more_than_the_limit(self):
        self.assertIn("Admitted in the first minute: 60.", self.pictures["redis_outage.svg"])


if __name__ == "__main__":
    unittest.main()
