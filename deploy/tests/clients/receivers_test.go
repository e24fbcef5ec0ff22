package clients_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// receivers are the complete programs of the guide to webhooks. VERIFIER and RECEIVER are replaced by its code.
var receivers = []verifier{
	{
		"typescript",
		map[string]string{"package.json": `{"type": "module"}`, "main.ts": "VERIFIER\nRECEIVER"},
		"exec node main.ts", `node -e 'process.exit(process.features.typescript ? 0 : 1)'`,
	},
	{"python", map[string]string{"main.py": "VERIFIER\nRECEIVER"}, "exec python3 main.py", "python3 --version"},
	{
		"go", map[string]string{
			"go.mod": "module receiver\n\ngo 1.24\n", "verified.go": "package main\n\nVERIFIER", "main.go": "RECEIVER",
		}, "GOWORK=off go build -o receiver . && exec ./receiver", "go version",
	},
}

func TestReceivers(t *testing.T) {
	t.Parallel()
	for _, r := range receivers {
		t.Run(r.language, func(t *testing.T) {
			t.Parallel()
			if exec.CommandContext(t.Context(), "sh", "-c", r.needs).Run() != nil {
				require.Empty(t, os.Getenv("GIFTING_CLIENTS"), "make clients installs %s", r.language)
				t.Skip("not installed") // `make clients` installs every language, and fails above if one is missing.
			}
			free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "localhost:0")
			require.NoError(t, err)
			_, port, err := net.SplitHostPort(free.Addr().String())
			require.NoError(t, err)
			require.NoError(t, free.Close())
			code := strings.NewReplacer("VERIFIER", shownCode(t, r.language, "verified"),
				"RECEIVER", strings.ReplaceAll(shownCode(t, r.language, "received"), "3000", port))
			dir := t.TempDir()
			for name, content := range r.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(code.Replace(content)), 0o600))
			}
			command := exec.CommandContext(t.Context(), "sh", "-c", r.run)
			command.Dir, command.Env, command.Stderr = dir, append(os.Environ(), "GIFTING_WEBHOOK_SECRET="+secret), os.Stderr
			printed, err := command.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, command.Start())
			t.Cleanup(func() { _ = command.Process.Kill() })
			require.Eventually(t, func() bool {
				conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "localhost:"+port)
				return err == nil && conn.Close() == nil
			}, 2*time.Minute, 100*time.Millisecond)
			sendHalfABody(t, "localhost:"+port)
			for range 2 {
				require.Equal(t, "204\n401\n401\n", sendSigned(t, "http://localhost:"+port))
			}
			line, err := bufio.NewReader(printed).ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, line, "ping ")
			require.NoError(t, command.Process.Kill())
			rest, err := io.ReadAll(printed)
			require.NoError(t, err)
			require.Empty(t, rest, "the second delivery of an event does nothing")
		})
	}
}

// sendHalfABody closes the connection within the body, as a sender does whose time is over.
func sendHalfABody(t *testing.T, receiver string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", receiver)
	require.NoError(t, err)
	_, err = io.WriteString(conn, "POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"id\": ")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}
