"""Rules of envoyproxy/ratelimit over gRPC with Debian's python3-grpcio: answers equal the reference server's, except
for the differences in docs/how-to/migrate-from-envoy-ratelimit.md."""

import time
import unittest

from daemon import Daemon
from grpc_calls import OK, OVER_LIMIT, RATE_LIMIT, Client, Messages, grpc, grpc_port
from redis_server import RedisServer

SETTINGS = """
server: {headers: draft-08}
grpc: {listen: "127.0.0.1:0", dynamic_metadata: true MORE}
STORE
"""
RULES = """
domain: shop
descriptors:
  - {key: user, rate_limit: {unit: day, requests_per_unit: 3, name: users}}
  - {key: other, rate_limit: {unit: day, requests_per_unit: 10, name: others}}
  - {key: bucket, rate_limit: {unit: day, requests_per_unit: 3, algorithm: token_bucket}}
  - {key: banned, rate_limit: {unit: day, requests_per_unit: 0, name: ban}}
  - {key: quota, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 2}}
  - {key: shadow_quota, quota_mode: true, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 100}}
  - {key: "team*", share_threshold: true, rate_limit: {unit: day, requests_per_unit: 5}}
  - key: gold
    metadata: {plan: gold, billing: {rate: 1.5, unit: call}}
    rate_limit: {unit: day, requests_per_unit: 1}
  - key: region
    shadow_mode: true
    metadata: {plan: ignored, billing: {rate: 2, currency: EUR}, zones: [a, 1, true, ~]}
    rate_limit: {unit: day, requests_per_unit: 1000}
"""
HOUR, DAY = 3, 4


def setUpModule():
    Shared.messages = Messages()


class Shared:
    messages = None


class RulesCase(unittest.TestCase):
    """One daemon for all tests of a class; each test uses its own keys."""

    more = ""

    @classmethod
    def store(cls):
        return ""

    @classmethod
    def setUpClass(cls):
        settings = SETTINGS.replace(" MORE", cls.more).replace("STORE", cls.store())
        cls.daemon = Daemon(settings, files={"limits.yaml": RULES}, whole_folder=True)
        cls.addClassCleanup(cls.daemon.close)
        cls.port = grpc_port(cls.daemon)
        # A fixed window must not end during a test.
        left = 86400 - time.time() % 86400
        if left < 60:
            time.sleep(left + 1)

    def setUp(self):
        self.client = Client(Shared.messages, self.port)
        self.addCleanup(self.client.close)

    def ask(self, *descriptors, **options):
        return self.client.ask("shop", *descriptors, **options)

    def left(self, key, value):
        """Without charging."""
        (status,) = self.ask(({key: value}, {"hits": 0})).statuses
        return status.limit_remaining

    def headers(self, answer):
        return {field.key.lower(): field.value for field in answer.response_headers_to_add}

    def limit_of(self, status):
        limit = status.current_limit
        return (limit.requests_per_unit, limit.unit, limit.name) if status.HasField("current_limit") else None

    def ends_with_the_day(self, status):
        return abs(status.duration_until_reset.seconds - (86400 - time.time() % 86400)) <= 2


class OverrideTest(RulesCase):
    def test_an_override_of_zero_denies_with_all_numbers_and_charges_nothing(self):
        for _ in range(3):
            answer = self.ask(({"user": "a"}, {"limit": (0, DAY)}), {"other": "a"})
            self.assertEqual(answer.overall_code, OVER_LIMIT)
            denied, other = answer.statuses
            self.assertEqual((denied.code, denied.limit_remaining), (OVER_LIMIT, 0))
            self.assertEqual(self.limit_of(denied), (0, DAY, ""))
            self.assertTrue(self.ends_with_the_day(denied), denied)
            self.assertEqual((other.code, other.limit_remaining), (OK, 10))
            self.assertEqual(self.limit_of(other), (10, DAY, "others"))
            headers = self.headers(answer)
            self.assertEqual(headers["ratelimit-policy"], '"request";q=0;w=86400, "other";q=10;w=86400')
            self.assertTrue(headers["ratelimit"].startswith('"request";r=0;t='), headers)
            self.assertNotIn("retry-after", headers)
            self.assertIn(b"Quota Exceeded", answer.raw_body)
        self.assertEqual(self.left("other", "a"), 10)

    def test_an_override_of_zero_denies_over_json(self):
        for limit in ({"unit": "HOUR"}, {"unit": "HOUR", "requestsPerUnit": 0}):
            asked = {"domain": "shop", "descriptors": [{"entries": [{"key": "user"}], "limit": limit}]}
            answer = self.daemon.ask("POST", "/json", asked)
            self.assertEqual(answer.status, 429)
            self.assertEqual(answer.body["statuses"][0]["currentLimit"], {"requestsPerUnit": 0, "unit": "HOUR"})

    def test_an_override_above_the_largest_limit_is_clamped(self):
        for limit in (1_000_000_001, 4_294_967_295):
            (status,) = self.ask(({"user": "b"}, {"limit": (limit, DAY), "hits": 1_000_000})).statuses
            self.assertEqual((status.code, self.limit_of(status)), (OK, (1_000_000_000, DAY, "")))
        self.assertEqual(status.limit_remaining, 998_000_000)

    def test_an_override_is_counted_separately_from_the_rule(self):
        self.ask({"other": "c"}, hits=4)
        (status,) = self.ask(({"other": "c"}, {"limit": (10, DAY)})).statuses
        self.assertEqual(status.limit_remaining, 9)
        self.assertEqual(self.left("other", "c"), 6)


class ZeroRuleTest(RulesCase):
    def test_denies_with_all_numbers_and_charges_nothing(self):
        for _ in range(3):
            answer = self.ask({"other": "a"}, {"banned": "x"})
            self.assertEqual(answer.overall_code, OVER_LIMIT)
            other, banned = answer.statuses
            self.assertEqual((banned.code, banned.limit_remaining), (OVER_LIMIT, 0))
            self.assertEqual(self.limit_of(banned), (0, DAY, "ban"))
            self.assertTrue(self.ends_with_the_day(banned), banned)
            self.assertEqual((other.code, other.limit_remaining), (OK, 10))
            self.assertEqual(self.headers(answer)["ratelimit-policy"],
                             '"other";q=10;w=86400, "banned";q=0;w=86400')
        self.assertEqual(self.left("other", "a"), 10)

    def test_is_explained_and_stores_nothing(self):
        asked = {"domain": "shop", "descriptors": [{"entries": [{"key": "banned", "value": "x"}]}]}
        answer = self.daemon.ask("POST", "/v1/check", asked)
        self.assertEqual((answer.status, answer.body["outcome"], answer.body["limit"]), (429, "never_fits", 0))
        self.assertEqual(answer.body["detail"], "banned (0/d fixed_window) allows nothing")
        self.assertFalse(self.daemon.ask("POST", "/v1/explain", asked).body["decision"]["allowed"])
        answer = self.daemon.ask("GET", "/v1/keys/banned=x?rule=shop/banned")
        self.assertEqual(answer.status, 400)
        self.assertIn("limit of 0", answer.body["detail"])

    def test_denies_a_peek(self):
        answer = self.ask(({"banned": "x"}, {"hits": 0}))
        self.assertEqual((answer.overall_code, answer.statuses[0].code), (OVER_LIMIT, OVER_LIMIT))


class CostTest(RulesCase):
    def test_a_cost_above_the_limit_has_consistent_numbers(self):
        answer = self.ask(({"user": "a"}, {"hits": 5}))
        (status,) = answer.statuses
        self.assertEqual((answer.overall_code, status.code, status.limit_remaining), (OVER_LIMIT, OVER_LIMIT, 3))
        self.assertGreaterEqual(status.duration_until_reset.seconds, 1)
        headers = self.headers(answer)
        self.assertEqual(headers["ratelimit"], f'"user";r=3;t={status.duration_until_reset.seconds}')
        self.assertNotIn("retry-after", headers)

    def test_a_cost_above_the_capacity_of_a_bucket_has_consistent_numbers(self):
        answer = self.ask(({"bucket": "a"}, {"hits": 5}))
        (status,) = answer.statuses
        self.assertEqual((status.code, status.limit_remaining), (OVER_LIMIT, 3))
        self.assertEqual(self.headers(answer)["ratelimit"],
                         f'"bucket";r=3;t={status.duration_until_reset.seconds}')

    def test_a_denied_request_is_not_charged(self):
        self.ask(({"user": "b"}, {"hits": 2}))
        answer = self.ask(({"user": "b"}, {"hits": 2}))
        self.assertEqual((answer.overall_code, answer.statuses[0].limit_remaining), (OVER_LIMIT, 1))
        self.assertEqual(self.ask({"user": "b"}).overall_code, OK)

    def test_equal_descriptors_are_charged_in_sum(self):
        answer = self.ask({"user": "c"}, {"user": "c"})
        self.assertEqual([status.limit_remaining for status in answer.statuses], [1, 1])
        answer = self.ask({"user": "c"}, {"user": "c"})
        self.assertEqual([status.code for status in answer.statuses], [OVER_LIMIT, OVER_LIMIT])
        self.assertEqual(self.ask({"user": "c"}).overall_code, OK)

    def test_a_peek_at_exactly_the_limit_is_over_limit(self):
        self.assertEqual(self.ask(({"user": "d"}, {"hits": 3})).overall_code, OK)
        self.assertEqual(self.ask(({"user": "d"}, {"hits": 0})).overall_code, OVER_LIMIT)


class QuotaModeTest(RulesCase):
    def test_a_quota_in_shadow_mode_prevents_an_overall_denial(self):
        both = ({"quota": "a"}, {"shadow_quota": "a"})
        self.assertEqual(self.ask(*both, hits=2).overall_code, OK)
        answer = self.ask(*both, hits=2)
        self.assertEqual(answer.overall_code, OK)
        self.assertEqual([status.code for status in answer.statuses], [OVER_LIMIT, OK])
        self.assertEqual(answer.statuses[1].limit_remaining, 96)
        self.assertEqual(self.ask({"quota": "a"}).overall_code, OVER_LIMIT)


class LookupTest(RulesCase):
    def test_a_wildcard_in_a_key_shares_the_values_of_each_key(self):
        left = [self.ask(entries).statuses[0].limit_remaining
                for entries in ({"team_id": "1"}, {"team_id": "2"}, {"teams": "1"}, {"team": "x"})]
        self.assertEqual(left, [4, 3, 4, 4])


class TextTest(RulesCase):
    @staticmethod
    def message(domain, key, value):
        def field(number, content):
            return bytes((number << 3 | 2, len(content))) + content

        return field(1, domain) + field(2, field(1, field(1, key) + field(2, value)))

    def test_text_that_is_not_utf_8_is_an_internal_error_as_in_grpc_go(self):
        self.client.raw(f"/{RATE_LIMIT}/ShouldRateLimit", self.message(b"shop", b"caf\xc3\xa9", b"x"))
        for bad in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xc3("):
            for parts in ((bad, b"user", b"x"), (b"shop", bad, b"x"), (b"shop", b"user", bad)):
                with self.assertRaises(grpc.RpcError) as caught:
                    self.client.raw(f"/{RATE_LIMIT}/ShouldRateLimit", self.message(*parts))
                self.assertEqual(caught.exception.code(), grpc.StatusCode.INTERNAL)


class MetadataTest(RulesCase):
    @staticmethod
    def plain(value):
        kind = value.WhichOneof("kind")
        if kind == "struct_value":
            return {name: MetadataTest.plain(field) for name, field in value.struct_value.fields.items()}
        if kind == "list_value":
            return [MetadataTest.plain(field) for field in value.list_value.values]
        return None if kind == "null_value" else getattr(value, kind)

    def metadata(self, *descriptors):
        fields = self.ask(*descriptors).dynamic_metadata.fields
        return self.plain(fields["metadata"]) if "metadata" in fields else None

    def test_metadata_of_allowing_rules_is_merged_and_the_first_value_wins(self):
        region = {"plan": "ignored", "billing": {"rate": 2, "currency": "EUR"}, "zones": ["a", 1, True, None]}
        self.assertEqual(self.metadata({"gold": "a"}, {"region": "a"}), {
            "plan": "gold", "billing": {"rate": 1.5, "unit": "call", "currency": "EUR"},
            "zones": ["a", 1, True, None],
        })
        self.assertEqual(self.metadata({"region": "b"}, {"user": "m"}), region)
        # The first rule is over its limit now.
        self.assertIsNone(self.metadata({"gold": "a"}))
        self.assertIsNone(self.metadata({"user": "n"}))


class CompressionTest(RulesCase):
    more = ", max_message_bytes: 100000"

    def test_gzip_messages_are_read(self):
        answer = self.ask({"user": "a"}, {"user": "z" * 5000}, compression=grpc.Compression.Gzip)
        self.assertEqual([status.limit_remaining for status in answer.statuses], [2, 2])

    def test_the_inflated_size_counts_against_the_limit(self):
        self.ask({"unknown": "x" * 99_000}, compression=grpc.Compression.Gzip)
        with self.assertRaises(grpc.RpcError) as caught:
            self.ask({"unknown": "x" * 100_001}, compression=grpc.Compression.Gzip)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertIn("100000", caught.exception.details())
        with self.assertRaises(grpc.RpcError) as caught:  # a zip bomb: 20 kB on the wire
            self.ask({"unknown": "x" * 20_000_000}, compression=grpc.Compression.Gzip)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertEqual(self.ask({"user": "b"}).overall_code, OK)

    def test_deflate_is_rejected(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.ask({"user": "c" * 5000}, compression=grpc.Compression.Deflate)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)


class SharedStoreTest(OverrideTest):
    """The same with Redis, and a ban while Redis is down."""

    @classmethod
    def store(cls):
        cls.redis = RedisServer()
        cls.addClassCleanup(cls.redis.close)
        return "store: {url: \"" + cls.redis.url + "\", timeout: 100ms}"

    def test_z_a_ban_holds_when_redis_is_down(self):
        self.redis.close()
        for asked in (({"banned": "x"},), (({"user": "z"}, {"limit": (0, DAY)}),)):
            answer = self.ask({"other": "z"}, *asked)
            self.assertEqual(answer.overall_code, OVER_LIMIT)
            self.assertEqual([status.code for status in answer.statuses], [OK, OVER_LIMIT])


if __name__ == "__main__":
    unittest.main()
