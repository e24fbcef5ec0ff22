package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Of Linux: the unit of /proc/<pid>/stat, and how often it is read. Reading it is work of its own, so processes that are
// new are looked for less often.
const (
	tick       = 10 * time.Millisecond
	sampleTick = 100 * time.Millisecond
	searchTick = 500 * time.Millisecond
)

// processors is the time that the processes at work for one side have used. On a machine that others use too it says
// more than a rate: the system divides time by processes, of which pgbench and its backends are many.
type processors struct {
	// database begins the title of a PostgreSQL backend's database.
	database string
	// server is the process that starts the backends, known from the first one on.
	server string
	// backends holds the last reading of each by its folder: one that has ended keeps it.
	backends map[string]time.Duration
}

func newProcessors(database string) *processors {
	return &processors{database: database, backends: map[string]time.Duration{}}
}

// search finds the backends that are new.
func (p *processors) search() {
	for _, dir := range p.candidates() {
		if _, known := p.backends[dir]; known {
			continue
		}
		title, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && strings.HasPrefix(string(title), "postgres: ") && strings.Contains(string(title), p.database) {
			p.backends[dir], p.server = 0, parent(dir)
		}
	}
}

// candidates are the folders of the server's processes. As long as there is no backend, and on a system that does not
// tell a process's children, they are those of all: to read these takes ten milliseconds.
func (p *processors) candidates() []string {
	children, err := os.ReadFile(filepath.Join("/proc", p.server, "task", p.server, "children"))
	if p.server == "" || err != nil {
		all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
		return all
	}
	folders := strings.Fields(string(children))
	for i, pid := range folders {
		folders[i] = filepath.Join("/proc", pid)
	}
	return folders
}

// sample reads the backends that were found and gives the time that they have used.
func (p *processors) sample() (sum time.Duration) {
	for backend := range p.backends {
		p.backends[backend] = max(p.backends[backend], used(backend))
		sum += p.backends[backend]
	}
	return sum
}

// during reads the backends while f runs, as those that f makes end with it, and gives what they used.
func (p *processors) during(ctx context.Context, f func()) time.Duration {
	p.search()
	before := p.sample()
	ctx, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		p.watch(ctx)
	}()
	f()
	stop()
	<-stopped
	p.search()
	return p.sample() - before
}

func (p *processors) watch(ctx context.Context) {
	sample, search := time.NewTicker(sampleTick), time.NewTicker(searchTick)
	defer sample.Stop()
	defer search.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-search.C:
			p.search()
		case <-sample.C:
			p.sample()
		}
	}
}

// used is user and system time of a process.
func used(dir string) time.Duration {
	const user, system = 11, 12
	fields := stat(dir)
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.Atoi(fields[user])
	s, _ := strconv.Atoi(fields[system])
	return time.Duration(u+s) * tick
}

// parent is the process that started the one of dir.
func parent(dir string) string {
	const parent = 1
	if fields := stat(dir); len(fields) > parent {
		return fields[parent]
	}
	return ""
}

// stat are the fields of /proc/<pid>/stat that follow the name; none of a process that has ended.
func stat(dir string) []string {
	raw, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil
	}
	_, behind, _ := strings.Cut(string(raw), ") ")
	return strings.Fields(behind)
}

// ownTime is what this process has used: the platform, and the clients with it.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
