"""Screenshots of the operator's page during incidents, for the documents. Usage: page_screenshots.py FOLDER

PENSTOCK_PROGRAM names the program, as in the tests.
"""

import sys
import time
import unittest
from pathlib import Path

from page_browser import Browser
from page_incidents import RULES, Traffic, configuration, fleet
from png_palette import with_palette

MAX_BYTES = 120_000
CALM = {"1": 9, "2": 7, "7": 12}  # requests per second that no limit denies
HISTORY = 45  # seconds, so that the charts show something


class Photographer:
    def __init__(self, browser, folder):
        self._browser = browser
        self._folder = folder

    def open(self, daemon, **how):
        self._browser.open(f"http://127.0.0.1:{daemon.admin_port}/", **{"width": 1280, "height": 900, **how})

    def take(self, name, selector=None):
        path = self._folder / f"page_{name}.png"
        self._browser.screenshot(path, selector)
        path.write_bytes(with_palette(path.read_bytes()))
        print(path, path.stat().st_size)
        if path.stat().st_size > MAX_BYTES:
            raise SystemExit(f"{path} is larger than {MAX_BYTES} bytes")


def one_abusive_client(browser, photographer):
    with fleet(3) as (_, daemons), Traffic(daemons, CALM, path="/"):
        photographer.open(daemons[0])
        time.sleep(HISTORY / 3)
        with Traffic(daemons, {"42": 120}):
            time.sleep(HISTORY)
            browser.wait_for("#answer-rule", "passes in")
            photographer.take("abusive_client")
            browser.click("#who-rows button:has-text('user=42')")
            browser.wait_for("#subject-found", "Recent denials")
            photographer.take("subject", "#subject")
            browser.click("#answer-act button:has-text('Block user=42')")
            browser.fill("#act-reason", "incident 12: scraper")
            browser.click("dialog summary")
            photographer.take("action", "dialog")
            browser.click("dialog button[type=submit]")
            browser.wait_for("#in-force", "user=42")
            photographer.take("in_force", "#log")
            photographer.open(daemons[0], width=390, height=1180, scheme="dark")
            browser.wait_for("#answer-changed", "action")
            photographer.take("phone")
        browser.open("about:blank")


def redis_down(browser, photographer):
    with fleet(3) as (redis, daemons), Traffic(daemons, CALM, path="/"):
        photographer.open(daemons[0], scheme="dark")
        time.sleep(HISTORY)
        browser.wait_for("#state", "^ENFORCING$")
        redis.stop()
        browser.wait_for("#state", "^NOT ENFORCING$")
        time.sleep(HISTORY / 3)
        photographer.take("redis_down")
        browser.open("about:blank")


def bad_reload(browser, photographer):
    with fleet(3) as (redis, daemons), Traffic(daemons, CALM, path="/"):
        photographer.open(daemons[0])
        time.sleep(HISTORY)
        browser.wait_for("#state", "^ENFORCING$")
        daemons[1].configuration.write_text(configuration(redis, RULES.replace("20/m burst 10", "20/fortnight")), encoding="utf-8")
        browser.wait_for("#state", "^DEGRADED$")
        time.sleep(HISTORY / 9)
        photographer.take("bad_reload")
        browser.open("about:blank")


def main():
    folder = Path(sys.argv[1]).resolve()
    browser = Browser()
    try:
        for incident in (one_abusive_client, redis_down, bad_reload):
            incident(browser, Photographer(browser, folder))
    finally:
        browser.close()
        unittest.doModuleCleanups()  # of the npm packages


if __name__ == "__main__":
    main()
