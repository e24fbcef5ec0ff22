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
	// backends holds the last reading of each by its folder: one that has ended keeps it.
	backends map[string]time.Duration
}

func newProcessors(database string) *processors {
	return &processors{database: database, backends: map[string]time.Duration{}}
}

// search finds the backends.
func (p *processors) search() {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well formed
	for _, file := range files {
		title, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(title), "postgres: ") && strings.Contains(string(title), p.database) {
			p.backends[filepath.Dir(file)] = max(p.backends[filepath.Dir(file)], 0)
		}
	}
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
	raw, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	_, behind, _ := strings.Cut(string(raw), ") ")
	const user, system = 11, 12
	fields := strings.Fields(behind)
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.Atoi(fields[user])
	s, _ := strconv.Atoi(fields[system])
	return time.Duration(u+s) * tick
}

// ownTime is what this process has used: the platform, and the clients with it.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
