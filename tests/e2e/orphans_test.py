"""The daemon periodically audits Redis for keys that never expire."""

import unittest

from daemon import Daemon, eventually
from redis_server import RedisServer

NOTE = "penstock:1:a:{audit}"
ORPHANS = "penstock_orphan_keys"
CHECK = {"domain": "api", "attributes": {"user": "7"}}


def configuration(server, more=""):
    return (
        "store: {url: '%s', timeout: 1s, audit_interval: 1s%s}\n" % (server.url, more)
        + "domains: {api: {rules: [{name: a, key: [user], limit: 5/day}]}}\n"
    )


class OrphansTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = RedisServer()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        self.server.call("FLUSHALL")
        self.server.call("CONFIG", "RESETSTAT")

    def shows(self, daemon, number):
        return eventually(lambda: daemon.metric(ORPHANS) == number)

    def scans(self):
        return "cmdstat_scan" in self.server.call("INFO", "commandstats")

    def test_keys_that_never_expire_are_counted_and_logged(self):
        with Daemon(configuration(self.server)) as daemon:
            self.assertEqual(daemon.ask("POST", "/v1/check", CHECK).status, 200)
            self.assertTrue(eventually(lambda: self.server.call("GET", NOTE) == "found 0"))
            self.assertEqual(daemon.metric(ORPHANS), 0)
            self.assertEqual(self.server.call("PERSIST", "penstock:1:l:{user=7}:api/a"), 1)
            self.server.call("LPUSH", "penstock:1:l:{list}", "x")  # no TTL and a wrong type: counted once
            self.server.call("SET", "of-another-program", "x")
            self.assertTrue(self.shows(daemon, 2))
            daemon.wait_for_output("never expire")
            self.server.call("DEL", "penstock:1:l:{user=7}:api/a", "penstock:1:l:{list}")
            self.assertTrue(self.shows(daemon, 0))

    def test_every_key_of_the_audit_itself_expires(self):
        with Daemon(configuration(self.server)):
            self.assertTrue(eventually(lambda: self.server.call("GET", NOTE) == "found 0"))
            self.assertGreater(self.server.call("PTTL", NOTE), 0)

    def test_the_result_of_another_node_is_shown_without_a_scan(self):
        self.server.call("SET", NOTE, "found 7", "PX", 600_000)
        with Daemon(configuration(self.server)) as daemon:
            self.assertTrue(self.shows(daemon, 7))
            self.assertFalse(self.scans())

    def test_only_one_node_scans_at_a_time(self):
        self.server.call("SET", "penstock:1:l:{a}", "x")
        self.server.call("SET", NOTE, "auditing another", "PX", 600_000)
        gets = lambda: "cmdstat_get:calls=" in self.server.call("INFO", "commandstats")
        with Daemon(configuration(self.server)) as daemon:
            self.assertTrue(eventually(gets))
            self.assertFalse(self.scans())
            self.server.call("DEL", NOTE)  # it ended without a result
            self.assertTrue(self.shows(daemon, 1))

    def test_audit_interval_off_disables_the_audit(self):
        text = configuration(self.server).replace("audit_interval: 1s", "audit_interval: off")
        with Daemon(text) as daemon, Daemon(configuration(self.server, ", key_prefix: b")) as other:
            self.server.call("SET", "b:1:l:{a}", "x")
            self.server.call("SET", "penstock:1:l:{a}", "x")
            self.assertTrue(self.shows(other, 1))  # so there was enough time
            self.assertEqual(daemon.metric(ORPHANS), 0)
            self.assertIsNone(self.server.call("GET", NOTE))

    def test_a_missing_scan_permission_is_logged_and_requests_are_served(self):
        self.server.call("ACL", "SETUSER", "small", "on", ">x", "~*", "+@all", "-scan")
        self.addCleanup(self.server.call, "ACL", "DELUSER", "small")
        text = configuration(self.server).replace("redis://", "redis://small:x@")
        with Daemon(text) as daemon:
            daemon.wait_for_output("store audit failed")
            self.assertEqual(daemon.ask("POST", "/v1/check", CHECK).status, 200)

    def test_shutdown_does_not_wait_for_a_long_audit(self):
        many = "for i = 1, 20000 do redis.call('SET', 'penstock:1:l:{' .. i .. '}', 'x') end"
        self.server.call("EVAL", many, 0)
        daemon = Daemon(configuration(self.server))
        try:
            self.assertTrue(eventually(self.scans))
            daemon.signal(15)
            self.assertEqual(daemon.wait(timeout=8), 0)  # the audit takes ten seconds
        finally:
            daemon.close()


if __name__ == "__main__":
    unittest.main()
