"""The operator's page in Chromium, during incidents on real daemons and a real Redis: reads the answers to the
five questions, acts, and undoes. Skipped where Chromium, node or the npm registry is missing."""

import json
import shlex
import subprocess
import unittest

from daemon import PROGRAM, Daemon, ask, eventually
from page_browser import Browser
from page_incidents import RULES, Traffic, check, configuration, fleet, outcome

TIME = r"\d\d:\d\d:\d\d"
NO_ANSWER = "Failed to load resource"  # how the console reports that a daemon does not answer


def setUpModule():
    PageTest.browser = Browser()
    unittest.addModuleCleanup(PageTest.browser.close)


class PageTest(unittest.TestCase):
    browser = None

    def setUp(self):
        self.browser.open("about:blank")  # the page of the last test has no daemon any more
        self.browser.problems()

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [])

    def open(self, daemon, **how):
        self.browser.open(f"http://127.0.0.1:{daemon.admin_port}/", **how)

    def answer(self, name, pattern):
        return self.browser.wait_for(f"#answer-{name}", pattern)

    def click_action(self, label):
        self.browser.click(f"#answer-act button:has-text('{label}')")

    def carry_out(self, reason):
        """Fills in the reason and submits; returns the command line that the dialog shows."""
        self.browser.fill("#act-reason", reason)
        command = self.browser.text("dialog .code code")
        self.browser.click("dialog button[type=submit]")
        self.browser.wait_for("#notice", "^Done: ")
        return command

    def undo(self):
        self.browser.click("#notice button:has-text('Undo')")

    def wait_for_outcome(self, daemon, user, expected):
        if not eventually(lambda: outcome(daemon, user) == expected, 60):
            self.fail(f"a request of {user} is {outcome(daemon, user)}, not {expected}")

    def assert_no_sideways_scrolling(self):
        wide, visible = self.browser.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(wide, visible)


class OneAbusiveClient(PageTest):
    def setUp(self):
        super().setUp()
        self.redis, (self.daemon,) = self.enterContext(fleet())
        self.enterContext(Traffic([self.daemon], {"42": 80, "1": 0.2, "2": 0.2, "3": 0.1}))
        self.open(self.daemon)
        self.browser.wait_for("#subject-domain", "api")  # the rules are loaded

    def test_the_five_questions(self):
        self.answer("enforced", r"^Yes\. Redis answers, p99 [\d.]+ ms")
        self.assertEqual(self.browser.text("#state"), "ENFORCING")
        self.answer("who", r"^One client: user=42 has \d+ % of \d+ denials/s")
        self.answer("rule", rf"^api/search \(20/m burst 10\), since {TIME}.*\n*user=42: denied by api/search since {TIME}, next request passes in ")
        self.answer("changed", rf"{TIME} start: ")
        self.answer("act", "Block user=42")
        self.browser.wait_for("#who-rows", r"user=42\s+api/search\s+\d+")
        self.browser.wait_for("#rules-rows", r"^api/search\s+\d+")

    def test_blocks_the_client_and_undoes_it(self):
        self.answer("act", "Block user=42")
        self.click_action("Block user=42")
        self.assertIn("user: {equals: \"42\"}", self.browser.evaluate("document.querySelector('dialog details code').textContent"))
        command = self.carry_out("incident 12: scraper")
        self.assertEqual(outcome(self.daemon, "42"), "blocked")
        self.assertEqual(outcome(self.daemon, "1", "/"), "allowed")
        self.browser.wait_for("#actions", rf"{TIME} local block: user=42 in domain api.*incident 12: scraper")
        self.browser.wait_for("#in-force", r"user=42 in domain api\s+blocked\s+\d+ min")
        self.answer("changed", "action: .*user=42")
        self.undo()
        self.wait_for_outcome(self.daemon, "42", "denied")
        self.browser.wait_for("#in-force-none", "No override")
        # The command line that was shown does the same.
        self.assertIn("--reason 'incident 12: scraper'", command)
        words = shlex.split(command)
        self.assertEqual(words[0], "penstock")
        subprocess.run([PROGRAM, *words[1:]], check=True, capture_output=True, timeout=20)
        self.assertEqual(outcome(self.daemon, "42"), "blocked")
        self.browser.wait_for("#in-force", "user=42")
        self.browser.click("#in-force button:has-text('Undo')")
        self.wait_for_outcome(self.daemon, "42", "denied")

    def test_raises_the_limit_of_the_client_and_undoes_it(self):
        self.answer("act", "Raise its limit")
        self.click_action("Raise its limit")
        self.browser.fill("#act-limit", "100000/s")
        command = self.carry_out("batch job")
        self.assertIn("penstock override set api/search --subject user=42 --limit 100000/s --for 1h", command)
        self.wait_for_outcome(self.daemon, "42", "allowed")
        self.browser.wait_for("#in-force", r"user=42 in rule api/search\s+limit 100000/s\s+\d+ min")
        self.undo()
        self.wait_for_outcome(self.daemon, "42", "denied")
        self.browser.wait_for("#actions", r"override remove: user=42 in rule api/search")

    def test_sets_the_rule_to_shadow_and_undoes_it(self):
        self.answer("act", "api/search to shadow for 15 min")
        self.click_action("api/search to shadow")
        command = self.carry_out("false alarm")
        self.assertIn("penstock override set api/search --shadow --for 15m", command)
        self.wait_for_outcome(self.daemon, "42", "allowed")
        self.answer("who", "^No client is denied")
        self.answer("act", r"1 override in force; the next ends in 14 min")
        self.undo()
        self.wait_for_outcome(self.daemon, "42", "denied")

    def test_blocks_and_undoes_by_keyboard_alone(self):
        self.answer("act", "Block user=42")
        self.browser.press("?")
        self.browser.wait_for("dialog", "block the subject shown")
        self.browser.press("Escape", "b")
        self.browser.wait_for("#dialog-title", "Block user=42 in domain api for 10m")
        self.assertEqual(self.browser.focused, "act-reason")
        self.browser.type("by keyboard")
        self.browser.press("Enter")
        self.browser.wait_for("#notice", "Done: Block user=42")
        self.assertEqual(outcome(self.daemon, "42"), "blocked")
        self.assertEqual(self.browser.focused, "Undo")
        self.browser.press("Enter")
        self.wait_for_outcome(self.daemon, "42", "denied")

    def test_shows_one_subject_and_resets_it(self):
        self.browser.press("/")
        self.browser.type("user=42")
        self.browser.press("Enter")
        self.browser.wait_for("#subject-found .sentence", rf"^denied by api/search since {TIME}, next request passes in ")
        self.browser.wait_for("#subject-found", r"api/search\s+20/m burst 10\s+\d+ of 10\s+(passes|resets) in ")
        self.browser.wait_for("#subject-found", r"Recent denials\s+api/search: \d+ denials")
        self.browser.click("#subject-found button:has-text('Reset usage')")
        self.assertIn("None.", self.browser.text("dialog p.muted"))
        self.carry_out("fresh start")
        self.browser.wait_for("#actions", "reset: user=42 in domain api")

    def test_filters_by_rule(self):
        self.browser.wait_for("#who-rows", "user=42")
        self.browser.click("#rules-rows button:has-text('api/login')")
        self.browser.wait_for("#filter-name", "^api/login$")
        self.browser.wait_for("#who-none", "^No client is denied")
        self.browser.click("#filter-clear")
        self.browser.wait_for("#who-rows", "user=42")

    def test_explains_a_pasted_request(self):
        self.browser.wait_for("#rules-rows", "api/search")
        body = json.dumps(check("42"))
        self.browser.fill("#explain-paste", f"curl -d '{body}' http://127.0.0.1:8080/v1/check")
        self.browser.click("#explain-form button.primary")
        self.browser.wait_for("#explain-found .sentence", r"^Would be denied by api/search: \d+ of 10 left, passes in ")
        self.browser.wait_for("#explain-found", r"✓\s+api/search\s.*\n(.*\n)*–\s+api/login\s+path .* is not /login")
        self.assertEqual(self.browser.texts("#explain-found p.problem"), [])

    def test_is_readable_on_a_phone_and_in_the_dark(self):
        self.open(self.daemon, width=360, height=740, scheme="dark")
        self.answer("who", "^One client: user=42")
        self.assert_no_sideways_scrolling()
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 26)")
        self.click_action("Block user=42")
        left, right = self.browser.evaluate("(() => { const {left, right} = document.querySelector('dialog').getBoundingClientRect(); return [left, right]; })()")
        self.assertGreaterEqual(left, 0)
        self.assertLessEqual(right, 360)

    def test_says_that_the_daemon_cannot_be_reached(self):
        self.answer("enforced", "^Yes")
        self.daemon.close()
        self.browser.wait_for("#state", "^CANNOT REACH THE DAEMON$")
        problems = self.browser.problems()
        self.assertEqual([each for each in problems if NO_ANSWER not in each], [])
        self.browser.open("about:blank")
        self.browser.problems()


class RedisDown(PageTest):
    def test_the_five_questions_and_recovery(self):
        redis, (daemon,) = self.enterContext(fleet())
        self.enterContext(Traffic([daemon], {"1": 5, "2": 5}))
        self.open(daemon)
        self.answer("enforced", "^Yes")
        redis.stop()
        self.browser.wait_for("#state", "^NOT ENFORCING$")
        self.browser.wait_for("#reasons", rf"Redis unreachable since {TIME}.*open")
        self.answer("enforced", r"^No\.")
        self.answer("who", "^No client is denied")
        self.answer("changed", rf"{TIME} outage: ")
        self.answer("act", "^Restore Redis")
        self.browser.wait_for("#store", r"Redis, down[\s\S]*breaker\s+(open|half open)")
        self.browser.wait_for("#legend", r"without store\s+[1-9]")
        # The rules themselves tell what is decided meanwhile.
        self.browser.wait_for("#rules-rows", r"api/login[\s\S]*closed")
        redis.start()
        self.browser.wait_for("#state", "^ENFORCING$")
        self.answer("changed", rf"{TIME} recovery: ")
        # A call that was in flight when Redis stopped may have failed.
        self.assertEqual([each for each in self.browser.problems() if "503" not in each], [])


class BadReloadOnOneOfThreeNodes(PageTest):
    def test_the_five_questions_then_acts_and_undoes(self):
        redis, (first, second, third) = self.enterContext(fleet(3))
        self.enterContext(Traffic([first, second, third], {"42": 90, "1": 0.2}))
        self.open(first)
        self.answer("enforced", "3 nodes with the same configuration")
        second.configuration.write_text(configuration(redis, RULES.replace("20/m burst 10", "20/fortnight")), encoding="utf-8")
        self.browser.wait_for("#state", "^DEGRADED$")
        self.answer("enforced", r"^Partly\.")
        self.answer("changed", r"rejected its new configuration and keeps the old rules: .*fortnight")
        self.answer("act", "Fix the file on that node")
        self.browser.wait_for("#nodes tbody tr", rf"{TIME}; then failed: .*fortnight")
        # Limits are the same on all nodes until the file is fixed; the page of one acts on all.
        self.answer("who", "^One client: user=42")
        self.click_action("api/search to shadow")
        self.carry_out("wait for the fix")
        for daemon in (first, second, third):
            self.wait_for_outcome(daemon, "42", "allowed")
        self.undo()
        for daemon in (first, second, third):
            self.wait_for_outcome(daemon, "42", "denied")
        # A file that is valid but differs: its node is marked.
        second.configuration.write_text(configuration(redis, RULES.replace("20/m burst 10", "30/m burst 10")), encoding="utf-8")
        self.browser.wait_for("#state", "^DEGRADED$")
        self.answer("changed", "has another configuration")
        self.browser.wait_for("#nodes td.different", "≠")
        second.configuration.write_text(configuration(redis), encoding="utf-8")
        self.browser.wait_for("#state", "^ENFORCING$")
        self.answer("enforced", "3 nodes with the same configuration")


class HostileSubjects(PageTest):
    NAMES = ("<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'-alert(1)-'", "\u202egnirts", "a\nb\tc\x00", "x" * 3000,
             "</td></table>", "${7*7}{{7*7}}", "\u200b\u2066", "🤖" * 100, "ا" * 60, "%3Cb%3E", "a&b=c", "javascript:alert(1)", "\\u003cb\\u003e")

    def test_ten_thousand_of_them(self):
        daemon = self.enterContext(Daemon(RULES.replace("20/m burst 10", "1/h")))
        users = [f"{self.NAMES[i % len(self.NAMES)]}{i}" for i in range(10_000)]
        for start in range(0, len(users), 100):
            self.assertEqual(daemon.ask("POST", "/v1/checks", [check(user) for user in users[start:start + 100] for _ in range(2)]).status, 200)
        self.enterContext(Traffic([daemon], dict.fromkeys(users[:300], 1)))  # denied while the browser starts
        self.open(daemon)
        self.answer("who", "^Many clients: about ")
        self.browser.wait_for("#who-rows", "user=")
        self.assertLessEqual(len(self.browser.texts("#who-rows tr")), 100)
        for by in ("new", "denied"):
            self.browser.click(f"input[name=by][value={by}]")
            self.browser.wait_for("#who-rows", "user=")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('main script, main img, main b b').length"), 0)
        self.assert_no_sideways_scrolling()
        for name in self.NAMES:
            with self.subTest(name=name[:30]):
                self.block(daemon, name)
        self.assert_no_sideways_scrolling()
        self.open(daemon, width=360, height=740)
        self.browser.wait_for("#actions", "block: user=")
        self.assert_no_sideways_scrolling()

    def block(self, daemon, name):
        """Opens the subject as the API writes it, and blocks it from the page."""
        answer = daemon.ask("POST", "/v1/check", check(name))
        subject = next(limit["subject"] for limit in answer.body["limits"] if limit["rule"] == "api/search")
        self.browser.fill("#subject-text", subject)
        self.browser.click("#subject-form button")
        self.browser.wait_for("#subject-found .sentence", "denied by api/search|passes|within|limit")
        self.browser.click("#subject-found button:has-text('Block')")
        self.assertNotIn("\n", self.browser.text("dialog .code code").strip())
        self.carry_out(name[:100].replace("\x00", "").strip() or "x")
        self.wait_for_outcome(daemon, name, "blocked")  # the notice may be that of the action before
        self.browser.click("#notice button[aria-label=Dismiss]")


class Tokens(PageTest):
    def test_beyond_loopback_the_page_asks_for_a_token(self):
        rules = "server: {tokens: {alice: secret-of-alice}}\n" + RULES
        daemon = self.enterContext(Daemon(rules, admin=("--admin", "0.0.0.0:0")))
        self.assertEqual(ask(daemon.admin_port, "GET", "/state").status, 401)
        self.open(daemon)
        self.browser.wait_for("#state", "^TOKEN NEEDED$")
        self.browser.fill("#token-text", "wrong")
        self.browser.press("Enter")
        self.browser.wait_for("#state", "^TOKEN NEEDED$")
        self.browser.click("#token")
        self.browser.fill("#token-text", "secret-of-alice")
        self.browser.press("Enter")
        self.browser.wait_for("#state", "^ENFORCING$")
        self.assertEqual(self.browser.evaluate("[localStorage.length, document.cookie]"), [0, ""])
        self.browser.fill("#subject-text", "user=42")
        self.browser.click("#subject-form button")
        self.browser.click("#subject-found button:has-text('Block')")
        self.carry_out("by name")
        self.browser.wait_for("#actions", "alice block: user=42")
        self.assertEqual([each for each in self.browser.problems() if NO_ANSWER not in each], [])

if __name__ == "__main__":
    unittest.main()
