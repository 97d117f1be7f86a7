"""Groups of redis-servers: a master with a sentinel, and a cluster."""

from daemon import eventually
from redis_server import RedisServer, Sentinel, free_port

_TIMEOUT = 20  # seconds


def _wait(what, holds):
    if not eventually(holds, _TIMEOUT):
        raise RuntimeError(f"{what} does not come about")


def _info_contains(server, command, text):
    return text in server.call(*command.split())


class _Servers:
    def __init__(self):
        self.servers = []

    def start(self, *settings, kind=RedisServer):
        self.servers.append(kind(*settings))
        return self.servers[-1]

    def close(self):
        for server in self.servers:
            server.close()


class SentinelGroup(_Servers):
    """A master, its replica and one sentinel, which is enough to fail over."""

    def __init__(self):
        super().__init__()
        try:
            self.master = self.start()
            self.replica = self.start("--replicaof", "127.0.0.1", str(self.master.port))
            sentinel = self.start(kind=Sentinel)
            self.url = f"redis-sentinel://127.0.0.1:{sentinel.port}/main"
            sentinel.call("SENTINEL", "MONITOR", "main", "127.0.0.1", self.master.port, 1)
            sentinel.call("SENTINEL", "SET", "main", "down-after-milliseconds", 500)
            sentinel.call("SENTINEL", "SET", "main", "failover-timeout", 3000)
            # Checks the servers more often than every 10 s, or it would not know a replica yet.
            sentinel.call("SENTINEL", "DEBUG", "INFO-PERIOD", 200, "PING-PERIOD", 400)
            _wait("the link to the master",
                  lambda: _info_contains(self.replica, "INFO replication", "master_link_status:up"))
            _wait("a replica that the sentinel knows",
                  lambda: str(self.replica.port) in str(sentinel.call("SENTINEL", "REPLICAS", "main")))
        except BaseException:
            self.close()
            raise

    def wait_for_replica(self):
        """Waits until the replica has caught up with the master."""
        def offset(server, name):
            lines = server.call("INFO", "replication").splitlines()
            return next(int(line.partition(":")[2]) for line in lines if line.startswith(name + ":"))

        wanted = offset(self.master, "master_repl_offset")
        _wait("replication", lambda: offset(self.replica, "slave_repl_offset") >= wanted)


class Cluster(_Servers):
    """Masters that share the slots evenly."""

    SLOTS = 16384

    def __init__(self, masters=3):
        super().__init__()
        try:
            ports = [free_port() for _ in range(masters)]  # for the cluster bus
            for number, port in enumerate(ports):
                server = self.start(
                    "--cluster-enabled", "yes", "--cluster-port", str(port),
                    "--cluster-node-timeout", "2000", "--cluster-require-full-coverage", "no",
                )
                first, after = (self.SLOTS * n // masters for n in (number, number + 1))
                server.call("CLUSTER", "ADDSLOTSRANGE", first, after - 1)
                server.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
                server.call("CLUSTER", "MEET", "127.0.0.1", self.servers[0].port, ports[0])
            self.url = f"redis-cluster://127.0.0.1:{self.servers[0].port}"
            _wait("the cluster", lambda: all(
                _info_contains(server, "CLUSTER INFO", "cluster_state:ok")
                and _info_contains(server, "CLUSTER INFO", f"cluster_size:{masters}")
                for server in self.servers
            ))
        except BaseException:
            self.close()
            raise

    def master_of(self, key):
        slot = self.servers[0].call("CLUSTER", "KEYSLOT", key)
        return self.servers[slot * len(self.servers) // self.SLOTS]
