//go:build faults

package faults_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mutationTime is enough to notice a bug while nothing else goes wrong.
const mutationTime = 25 * time.Second

// TestPlantedBugsAreFound shows that the checks work: they find each mutation, and nothing else.
func TestPlantedBugsAreFound(t *testing.T) {
	unchanged := buildPrograms(t, "", "")
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			r := newRecord(t, 1)
			s := newSite(t, plan{binaries: m.build(t, unchanged), slowCommits: true, logs: r.dir})
			c := newScene(t, s, time.Now().UnixNano(), 0)
			c.use(t, mutationTime, func(ctx context.Context) { <-ctx.Done() })
			c.judge(t, patience{feed: 15 * time.Second, arrive: 2 * time.Minute, stock: time.Minute}, r.say)
			r.verdict(c.verdict, nil)
			if m.breaks == invariants {
				require.Empty(t, c.wrong())
				return
			}
			require.NotEmpty(t, c.wrong()[m.breaks], "the mutation is not found")
		})
	}
}

// build returns a folder of programs with the mutation. Those that it does not change are the unchanged ones.
func (m mutation) build(t *testing.T, unchanged string) string {
	t.Helper()
	var changed []string
	for _, p := range programs {
		for _, c := range m.changes {
			if strings.HasPrefix(c.file, "pkg/") || strings.HasPrefix(c.file, "services/"+string(p.name)+"/") {
				changed = append(changed, string(p.name))
				break
			}
		}
	}
	dir := buildPrograms(t, "", overlay(t, m.changes), changed...)
	for _, p := range programs {
		err := os.Symlink(filepath.Join(unchanged, string(p.name)), filepath.Join(dir, string(p.name)))
		if !errors.Is(err, fs.ErrExist) {
			require.NoError(t, err)
		}
	}
	return dir
}
