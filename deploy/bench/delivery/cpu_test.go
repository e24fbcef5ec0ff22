package delivery_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// ticksPerSecond is the unit of /proc/<pid>/stat on every Linux that Go runs on.
const ticksPerSecond = 100

// usage is the CPU time in seconds that each party has used.
type usage struct{ platform, database, broker float64 }

func (u usage) minus(before usage) usage {
	return usage{u.platform - before.platform, u.database - before.database, u.broker - before.broker}
}

func (u usage) sum() float64 { return u.platform + u.database + u.broker }

// meter reads the CPU time of this process, receivers included, of the platform's backends with the server's own
// processes, and of the broker. An embedded broker is part of this process.
type meter struct {
	server *pgxpool.Pool
	// databases is the beginning of their names.
	databases string
	broker    int
	// backends holds the last reading of each: one that has ended keeps it.
	backends map[int]float64
}

func (p *platform) newMeter(b *testing.B) *meter {
	b.Helper()
	m := &meter{server: p.database(b, "webhook"), databases: p.Config.Name, backends: map[int]float64{}}
	if len(p.Config.KafkaBrokers) > 0 {
		m.broker = listenerOf(b, p.Config.KafkaBrokers[0])
	}
	return m
}

func (m *meter) read(b *testing.B) usage {
	b.Helper()
	rows, err := m.server.Query(b.Context(), `SELECT pid FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND (datname IS NULL OR starts_with(datname, $1))`, m.databases)
	require.NoError(b, err)
	var pid int
	for rows.Next() {
		require.NoError(b, rows.Scan(&pid))
		m.backends[pid] = max(cpuOf(pid), m.backends[pid])
	}
	require.NoError(b, rows.Err())
	u := usage{platform: cpuOf(os.Getpid())}
	for _, seconds := range m.backends {
		u.database += seconds
	}
	if m.broker != 0 {
		u.broker = cpuOf(m.broker)
	}
	return u
}

// cpuOf is 0 for a process that is no more.
func cpuOf(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name may hold spaces; what follows it is numbers.
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	const user, system = 11, 12
	var ticks int
	for _, i := range []int{user, system} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0
		}
		ticks += n
	}
	return float64(ticks) / ticksPerSecond
}

// listenerOf finds the process that listens on an address of this machine.
func listenerOf(b *testing.B, addr string) int {
	b.Helper()
	_, port, err := net.SplitHostPort(addr)
	require.NoError(b, err)
	number, err := strconv.Atoi(port)
	require.NoError(b, err)
	socket := "socket:[" + inodeOf(b, number) + "]"
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	require.NoError(b, err)
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == socket {
			pid, err := strconv.Atoi(strings.Split(link, "/")[2])
			require.NoError(b, err)
			return pid
		}
	}
	require.Fail(b, "no process of this machine listens on "+addr)
	return 0
}

func inodeOf(b *testing.B, port int) string {
	b.Helper()
	const local, state, inode, listening = 1, 3, 9, "0A"
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		require.NoError(b, err)
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if strings.HasSuffix(fields[local], fmt.Sprintf(":%04X", port)) && fields[state] == listening {
				return fields[inode]
			}
		}
	}
	require.Fail(b, "nobody listens", "port %d", port)
	return ""
}
