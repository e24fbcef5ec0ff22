package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// asProgram makes the test binary be the program.
const asProgram = "GIFTINGCTL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program is giftingctl in a process of its own.
func program(t *testing.T, config string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), self, args...)
	command.Env = append(os.Environ(), asProgram+"=1", "GIFTINGCTL_CONFIG="+config)
	return command
}

// terminal opens both ends of a pseudo terminal.
func terminal(t *testing.T) (controller, user *os.File) {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "there are no pseudo terminals: %s", err)
		t.Skip("there are no pseudo terminals: " + err.Error()) // Some containers have none. The whole check fails without them.
	}
	t.Cleanup(func() { _ = controller.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(controller.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(controller.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	user, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return controller, user
}

// catalog accepts all gifts.
func catalog(_ string, req proto.Message) (proto.Message, error) {
	sent, ok := req.(*catalogv1.ImportProductsRequest)
	if !ok {
		return nil, nil // The empty response.
	}
	answer := &catalogv1.ImportProductsResponse{}
	for range sent.GetProducts() {
		answer.Results = append(answer.Results, &catalogv1.ImportResult{Outcome: catalogv1.ImportOutcome_IMPORT_OUTCOME_CREATED})
	}
	return answer, nil
}

// gifts writes a file of gifts.
func gifts(t *testing.T, count int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("id,state,name\n")
	for range count {
		text.WriteString(uuid.NewString() + ",DRAFT,n\n")
	}
	path := filepath.Join(t.TempDir(), "gifts.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

func TestProgressIsABarOnATerminalOnly(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, catalog)
	arguments := []string{"catalog", "import", gifts(t, 1000), "--report", filepath.Join(t.TempDir(), "report.csv")}
	t.Run("on a terminal", func(t *testing.T) {
		t.Parallel()
		controller, user := terminal(t)
		command := program(t, services.Config, arguments...)
		command.Stderr = user
		require.NoError(t, command.Run())
		require.NoError(t, user.Close())
		shown, _ := io.ReadAll(controller) // It ends with an error, because the other end is closed.
		require.Contains(t, string(shown), "\r["+strings.Repeat("=", 30)+"] 100 % imported\r\n")
		require.Contains(t, string(shown), "1000 rows: 1000 created, 0 updated, 0 unchanged, 0 rejected\r\n")
	})
	t.Run("not among the lines of a report", func(t *testing.T) {
		t.Parallel()
		controller, user := terminal(t)
		command := program(t, services.Config, arguments[:3]...)
		command.Stdout, command.Stderr = user, user
		shown := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(controller) // It ends with an error, because the other end is closed.
			shown <- string(text)
		}()
		require.NoError(t, command.Run())
		require.NoError(t, user.Close())
		lines := strings.Split(strings.TrimSpace(<-shown), "\r\n")
		require.Len(t, lines, 1001)
		for _, line := range lines[:1000] {
			require.Regexp(t, `^\{"line":\d+,"id":"[0-9a-f-]{36}","outcome":"created","errors":\[\]\}$`, line)
		}
	})
	t.Run("not in a file", func(t *testing.T) {
		t.Parallel()
		var errs bytes.Buffer
		command := program(t, services.Config, arguments...)
		command.Stderr = &errs
		require.NoError(t, command.Run())
		require.NotContains(t, errs.String(), "\r")
		require.NotContains(t, errs.String(), "[=")
		require.Regexp(t, `^1000 rows: 1000 created, .*\n$`, errs.String())
	})
}

func TestAReaderThatStopsEndsTheCommandQuietly(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		answer := &catalogv1.ListRegionsResponse{}
		for range 50_000 {
			answer.Regions = append(answer.Regions, &catalogv1.PutRegionRequest{Code: "NORDICS", Countries: []string{"SE"}})
		}
		return answer, nil
	})
	command := program(t, services.Config, "regions", "list")
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	first, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, first, "CODE")
	require.NoError(t, out.Close()) // As head does.
	require.Error(t, command.Wait())
	status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGPIPE, status.Signal())
	require.Empty(t, errs.String())
}

func TestCtrlCStopsAnImportThatWaitsForItsInput(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 10)
	services := giftingctltest.Start(t, func(method string, req proto.Message) (proto.Message, error) {
		arrived <- struct{}{}
		return catalog(method, req)
	})
	command := program(t, services.Config, "catalog", "import", "-", "--format", "csv")
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	in, err := command.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	file, err := os.ReadFile(gifts(t, 250))
	require.NoError(t, err)
	_, err = in.Write(file) // It is not closed: more could follow.
	require.NoError(t, err)
	select {
	case <-arrived:
	case <-time.After(time.Minute):
		require.Fail(t, "the first batch was not sent")
	}
	require.NoError(t, command.Process.Signal(os.Interrupt))
	require.Error(t, command.Wait())
	require.Equal(t, 130, command.ProcessState.ExitCode(), errs.String())
	require.Contains(t, errs.String(), "import of the rows from line ")
	require.Contains(t, errs.String(), "Run the same command again: it imports the rest.")
}

func TestWithoutAHomeTheContextsMustBeNamed(t *testing.T) {
	t.Parallel()
	command := program(t, "", "regions", "list")
	command.Env = []string{asProgram + "=1"}
	command.Dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(command.Dir, "giftingctl.yaml"), []byte("current: evil\n"), 0o600))
	output, err := command.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 2, command.ProcessState.ExitCode())
	require.Contains(t, string(output), "HOME is not set")
	version := program(t, "", "--version")
	version.Env = []string{asProgram + "=1"}
	require.NoError(t, version.Run(), "what needs no context works")
}
