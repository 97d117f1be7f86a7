"""One line of grpc_redis_compare.sh. Arguments: name, report of penstock-bench, where the last one is kept for the
ratio, ticks of server and Redis before and after."""

import json
import os
import sys
from pathlib import Path


def main():
    name, report_path, last_path, *ticks = sys.argv[1:]
    report = json.loads(Path(report_path).read_text(encoding="utf-8"))
    server_before, redis_before, server_after, redis_after = map(int, ticks)
    calls = report["answered"]
    scale = 1e6 / os.sysconf("SC_CLK_TCK") / calls
    server = (server_after - server_before) * scale
    redis = (redis_after - redis_before) * scale
    per_second = 1e6 / (server + redis)
    print("  %-19s %7.0f calls/s, CPU us per call: server %6.2f, Redis %5.2f; %7.0f calls per second of CPU, p99 %6.0f us, "
          "failed %d, over-admitted %s" % (name, report["requests_per_second"], server, redis, per_second, report["p99_us"],
                                            report["failed"], report.get("over_admitted", "-")), end="")
    last = Path(last_path)
    if last.exists():
        print(", ratio %.2f" % (float(last.read_text(encoding="utf-8")) / per_second))
        last.unlink()
    else:
        print()
        last.write_text(str(per_second), encoding="utf-8")


if __name__ == "__main__":
    main()
