package giftingctl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
)

// plausible is a value of a field on the command line.
func plausible(t *testing.T, f *field) string {
	t.Helper()
	fd := f.descriptor()
	switch f.Type() {
	case "word":
		return choices(fd)[0]
	case "number":
		return "1"
	case "bool":
		return "true"
	case "time":
		return "2026-01-31"
	case "duration":
		return "36h"
	case "name=value":
		return "a=1"
	case "name=value,...":
		return "{}"
	case "file":
		path := filepath.Join(t.TempDir(), "content")
		require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
		return path
	}
	if f.key == "url" {
		return "https://hooks.example.com/hunter2"
	}
	return "x"
}

// line is a command with all its arguments and flags, only one of those that exclude each other.
func line(t *testing.T, c call) []string {
	t.Helper()
	args, flags, used := strings.Fields(c.use), []string(nil), map[string]bool{}
	cc := &callCommand{call: c, fields: c.requestFields()}
	for _, key := range c.args {
		args = append(args, plausible(t, cc.named(key)))
	}
	for _, f := range cc.fields {
		if of := f.path[0].ContainingOneof(); of != nil && !of.IsSynthetic() {
			if used[string(of.Name())] {
				continue
			}
			used[string(of.Name())] = true
		}
		if cc.isFlag(f) && f.key != "after" && f.key != "page_token" {
			flags = append(flags, "--"+f.name+"="+plausible(t, f))
		}
	}
	if c.document != "" {
		flags = append(flags, "--out", filepath.Join(t.TempDir(), "out"))
	}
	return append(args, flags...)
}

func runLine(t *testing.T, config string, args ...string) (code int, out, errs string) {
	t.Helper()
	var to, notes strings.Builder
	code = Run(t.Context(), append([]string{"--config", config}, args...), Streams{In: strings.NewReader(""), Out: &to, Err: &notes})
	return code, to.String(), notes.String()
}

func TestADryRunOfEveryChangingCommandSendsNothing(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	for _, c := range calls {
		if c.readOnly {
			continue
		}
		t.Run(c.use, func(t *testing.T) {
			code, out, errs := runLine(t, services.Config, append(line(t, c), "--dry-run")...)
			require.Zero(t, code, errs)
			require.True(t, json.Valid([]byte(out)), out)
			require.Contains(t, errs, "Not sent: "+c.method[1:])
			require.NotContains(t, out, "hunter2", "the path of a webhook may be a secret of its receiver")
			require.Empty(t, services.Calls())
		})
	}
	t.Run("also the import of a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "gifts.csv")
		require.NoError(t, os.WriteFile(path, []byte("id,state,name\na,DRAFT,n\nb,SOLD,n\n"), 0o600))
		code, out, errs := runLine(t, services.Config, "catalog", "import", path, "--dry-run")
		require.Equal(t, exitFailed, code)
		require.Contains(t, out, `{"line":3,"id":"b","outcome":"rejected"`)
		require.Contains(t, errs, "2 rows, of which 1 cannot be read. Nothing was sent.\n")
		require.Empty(t, services.Calls())
	})
}

func TestTheTenantOfTheCommandLineReplacesThatOfTheFile(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	path := filepath.Join(t.TempDir(), "request.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"tenantId": "of the file"}`), 0o600))
	for want, flags := range map[string][]string{"of the file": nil, "of the flag": {"--tenant", "of the flag"}} {
		code, out, errs := runLine(t, services.Config, append([]string{"people", "erase", "-f", path, "--dry-run"}, flags...)...)
		require.Zero(t, code, errs)
		require.Contains(t, out, want)
	}
}

// Without --all, a command that changes something page by page leaves out everything after the first page.
func TestChangingCommandsOfTheRunbooksCoverAllPages(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../runbooks/*.md")
	require.NoError(t, err)
	found := 0
	for _, path := range paths {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, c := range calls {
			cc := &callCommand{call: c, fields: c.requestFields()}
			for command := range strings.Lines(string(page)) {
				if c.readOnly || cc.cursorField() == nil || !strings.HasPrefix(strings.TrimSpace(command), "giftingctl "+c.use+" ") {
					continue
				}
				found++
				require.Contains(t, strings.Fields(command), "--all", path)
			}
		}
	}
	require.NotZero(t, found)
}

func TestEveryCommandPrintsOneJSONValue(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	for _, c := range calls {
		t.Run(c.use, func(t *testing.T) {
			for _, output := range []string{terminal.AsJSON, terminal.AsTable} {
				code, out, errs := runLine(t, services.Config, append(line(t, c), "-o", output)...)
				require.Zero(t, code, errs)
				require.Equal(t, c.method, services.Calls()[len(services.Calls())-1])
				if output == terminal.AsJSON && out != "" { // A stream without events has none.
					require.True(t, json.Valid([]byte(out)), "%s", out)
				}
			}
		})
	}
	dir := t.TempDir()
	secrets, certificates := filepath.Join(dir, "secrets"), filepath.Join(dir, "certificates")
	for _, args := range [][]string{
		{"context", "list"},
		{"context", "show"},
		{"context", "use", "test"},
		{"bootstrap", "keys", "--postgres", "db:5432", "--dir", secrets},
		{"bootstrap", "keys", "--postgres", "db:5432", "--dir", secrets}, // The second time it makes nothing.
		{"bootstrap", "databases", "--secrets", secrets},
		{"bootstrap", "certificates", "--dir", certificates},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			code, out, errs := runLine(t, services.Config, append(args, "-o", "json")...)
			require.Zero(t, code, errs)
			require.True(t, json.Valid([]byte(out)), "%s", out)
		})
	}
	t.Run("also of an error", func(t *testing.T) {
		code, out, errs := runLine(t, services.Config, "orders", "search", "--status", "lost", "-o", "json")
		require.Equal(t, exitUsage, code)
		require.Empty(t, out)
		require.True(t, json.Valid([]byte(errs)), errs)
	})
}
