"""The same sessions in two databases, one of heap tables and one of sliced ones.

The databases should be on servers of their own: transactions anywhere on a server
decide which dead rows may be removed.

Both are given the same statement of the same session.  Then each world goes on
until every one of its sessions is idle, or waits for a lock that an idle one
holds: only then is there an outcome to compare, and nothing of it depends on
timing.  So that this stays true, never do two sessions run at the same time.  A
lock that is given up wakes one waiter at most, because

* one session may wait for a lock, and one more for the gate, an advisory lock;
* it may wait for idle sessions only, since one that is in the middle of a
  statement could give up the lock in there (an exception block) and go on;
* a session that would wait beyond that is cancelled, which is an outcome like any.
"""
import select
import time

from psycopg import pq

RESULT = pq.ExecStatus.TUPLES_OK
SERIALIZATION = "read/write dependencies"


class Broken(Exception):
    """A session has been lost, or does not come to an end."""


class Session:
    """One connection; what it has said since its last statement was sent."""

    def __init__(self, world, number, options=""):
        self.world = world
        self.conn = pq.PGconn.connect(f"host={world.host} dbname={world.database} options='{options}'".encode())
        if self.conn.status != pq.ConnStatus.OK:
            raise Broken(self.conn.error_message.decode())
        self.conn.notice_handler = self.notice
        self.conn.nonblocking = 1
        self.number = number
        self.fd = self.conn.socket
        self.pid = self.conn.backend_pid
        self.busy = False
        self.waits = None               # for "lock" or "gate"
        self.blocked_by = set()         # pids
        self.notices = []
        self.results = []

    def notice(self, result):
        severity, message = (result.error_field(field) or b"" for field in
                             (pq.DiagnosticField.SEVERITY, pq.DiagnosticField.MESSAGE_PRIMARY))
        self.notices.append((severity + b": " + message).decode(errors="replace"))

    def send(self, sql):
        self.notices, self.results = [], []
        self.busy = True
        self.conn.send_query(sql.replace("{world}", self.world.database).encode())
        while self.conn.flush():
            select.select([], [self.fd], [])

    def advance(self):
        """Take what has come; is the statement done?"""
        try:
            self.conn.consume_input()
        except Exception as error:
            raise Broken(f"{self.world.name}, session {self.number}: {error}") from error
        while not self.conn.is_busy():
            result = self.conn.get_result()
            if result is None:
                self.busy, self.waits = False, None
                return True
            self.results.append(self.outcome(result))
        return False

    def outcome(self, result):
        if result.status == RESULT:
            columns = range(result.nfields)
            return sorted([tuple([result.get_value(row, column) for column in columns])
                           for row in range(result.ntuples)],
                          key=lambda row: [(value is None, value or b"") for value in row])
        sqlstate = result.error_field(pq.DiagnosticField.SQLSTATE)
        if sqlstate is None:
            return (result.command_status or b"").decode()
        message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY).decode(errors="replace")
        return f"{sqlstate.decode()} {message}".replace(self.world.database, "{world}")

    def said(self):
        return self.results + self.notices

    def state(self):
        """As the server tells it: idle, in a transaction, or in a failed one; None if it waits."""
        if self.busy:
            return None
        return {pq.TransactionStatus.IDLE: "I", pq.TransactionStatus.INTRANS: "T",
                pq.TransactionStatus.INERROR: "E"}.get(self.conn.transaction_status)

    def run(self, sql):
        """Run a statement that waits for nobody."""
        self.send(sql)
        while not self.advance():
            select.select([self.fd], [], [], 60)
        return self.said()

    def close(self):
        self.conn.finish()


class World:
    """A database, its sessions (the last is the gate's) and an observer."""

    def __init__(self, name, host, database, patience=30):
        self.name = name
        self.host = host
        self.database = database
        self.patience = patience
        self.sessions = []
        self.observer = Session(self, -1)
        self.observer.run("SET lock_timeout = '20ms'; SET search_path = m, lib, public")

    def start(self, count, options):
        """Sessions of their own for every script: no caches of the last one's."""
        self.sessions = [Session(self, number, options) for number in range(count)]
        self.by_fd = {session.fd: session for session in self.sessions}
        self.by_pid = {session.pid: session for session in self.sessions}

    def stop(self):
        for session in self.sessions:
            session.close()
        pids = ", ".join(str(session.pid) for session in self.sessions) or "0"
        self.sessions = []
        for _ in range(1000):
            if not self.observer.run(f"SELECT pid FROM pg_stat_activity WHERE pid IN ({pids})")[0]:
                break
            self.observer.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN ({pids})")
            time.sleep(0.005)
        for (gid,) in self.observer.run("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()")[0]:
            self.observer.run(f"ROLLBACK PREPARED '{gid.decode()}'")

    def close(self):
        self.stop()
        self.observer.close()

    def send(self, number, sql):
        self.sent = time.monotonic()
        self.sessions[number].send(sql)

    def blockers(self, busy):
        """Who keeps each of these from going on; pid 0 is a prepared transaction."""
        calls = ", ".join(f"pg_blocking_pids({session.pid})" for session in busy)
        (row,), *_ = self.observer.run(f"SELECT {calls}")
        return [{int(pid) for pid in pids[1:-1].split(b",") if pid} for pids in row]

    def pinned(self, busy):
        """VACUUM may wait for a cursor to leave a page, which is not a lock."""
        pids = ", ".join(str(session.pid) for session in busy)
        return {int(pid) for (pid,) in self.observer.run(
            f"SELECT pid FROM pg_stat_activity WHERE pid IN ({pids}) AND wait_event = 'BufferPin'")[0]}

    def settle(self):
        """Go on until all are idle or wait; which statements came to their end, and what they said.

        Yields whenever the other world may have a turn.
        """
        ended = {}
        timeout = 1
        while True:
            self.took = time.monotonic() - self.sent
            busy = [session for session in self.sessions if session.busy]
            if not busy:
                return ended
            yield
            fresh = [session for session in busy if session.waits is None]
            ready = self.poll(busy, timeout) if fresh or timeout > 1 else self.poll(busy, 0)
            if ready:
                for session in ready:
                    if session.advance():
                        ended[session.number] = session.said()
                        timeout = 1
                continue
            if self.all_wait(busy, timeout):
                victim = self.victim(busy)
                if victim is None:
                    return ended
                self.observer.run(f"SELECT pg_cancel_backend({victim.pid})")
            if self.took > self.patience:
                raise Broken(f"{self.name}: sessions {[s.number for s in busy]} neither end nor wait")
            timeout = min(timeout * 2, 50)

    def poll(self, busy, timeout):
        poller = select.poll()
        for session in busy:
            poller.register(session.fd, select.POLLIN)
        return [self.by_fd[fd] for fd, _ in poller.poll(timeout)]

    def all_wait(self, busy, timeout):
        """Does everybody who is busy wait?  Notes for whom; session.waits is None if that is new."""
        blockers = self.blockers(busy)
        if not all(blockers) and timeout >= 50:
            pinned = self.pinned(busy)
            blockers = [pids or ({0} if session.pid in pinned else set())
                        for session, pids in zip(busy, blockers)]
        if not all(blockers):
            return False
        for session, pids in zip(busy, blockers):
            if session.waits != self.kind(pids) or not pids <= session.blocked_by:
                session.waits = None
            session.blocked_by = pids
        return True

    def kind(self, pids):
        return "gate" if self.sessions[-1].pid in pids else "lock"

    def victim(self, busy):
        """Whom to cancel, because more would wait than may; notes who waits for what."""
        taken = {session.waits for session in busy}
        for session in busy:
            if session.waits is None:
                kind = self.kind(session.blocked_by)
                others = [self.by_pid[pid] for pid in session.blocked_by if pid in self.by_pid]
                if kind in taken or any(other.busy for other in others):
                    return session
                session.waits = kind
                taken.add(kind)
        return None

    def waiting(self):
        return {session.number: session.waits for session in self.sessions if session.busy}

    def states(self):
        return [session.state() for session in self.sessions]


def settle(worlds):
    """Settle both; what each one's settle() returns.

    They take turns, or a world that has to cancel somebody before it can go on would
    do so only when the other one has settled, and be found to take twice the time.
    """
    turns = {world: world.settle() for world in worlds}
    ended = {}
    while turns:
        for world, turn in list(turns.items()):
            try:
                next(turn)
            except StopIteration as end:
                ended[world] = end.value
                del turns[world]
    return [ended[world] for world in worlds]
