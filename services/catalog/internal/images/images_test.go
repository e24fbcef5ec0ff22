package images_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/testenv"
	"github.com/partnergifting/platform/services/catalog/internal/images"
)

// s3URL is a bucket of a server that speaks S3.
func s3URL(t *testing.T) string {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("gifting-images"))
	return urlOf(t, gofakes3.New(backend).Server())
}

func urlOf(t *testing.T, store http.Handler) string {
	t.Helper()
	server := httptest.NewServer(store)
	t.Cleanup(server.Close)
	return "s3://gifting-images?region=us-east-1&use_path_style=true&hostname_immutable=true&prefix=images/" +
		"&endpoint=" + url.QueryEscape(server.URL)
}

// requireStored stores a small and a large file, each twice as a repeated request does, and reads them.
func requireStored(t *testing.T, files *images.Files) {
	t.Helper()
	large := make([]byte, 10<<20)
	_, err := rand.Read(large)
	require.NoError(t, err)
	for id, content := range map[string][]byte{"a1": []byte("small"), "b2": large} {
		for range 2 {
			require.NoError(t, files.Put(t.Context(), id, "image/png", content))
		}
		got, err := files.Get(t.Context(), id)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
	}
}

func TestFilesAreStored(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", "/no/folder/for/temporary/files") // The container image has none.
	for name, address := range map[string]string{
		"in a folder": "file://" + filepath.ToSlash(folder) + "/images",
		"in S3":       s3URL(t),
	} {
		t.Run(name, func(t *testing.T) {
			files, err := images.Open(t.Context(), address)
			require.NoError(t, err)
			requireStored(t, files)
			_, err = files.Get(t.Context(), "none")
			require.ErrorContains(t, err, "read image none")
			require.False(t, problem.Is(err, problem.ServiceUnavailable))
			require.NoError(t, files.Close())
		})
	}
	_, err := images.Open(t.Context(), "ftp://images")
	require.ErrorContains(t, err, "open image store")
}

func TestAStoreThatAnswersWithAnErrorIsUnavailable(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for _, status := range []int{http.StatusForbidden, http.StatusServiceUnavailable} {
		files, err := images.Open(t.Context(), urlOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		})))
		require.NoError(t, err)
		_, err = files.Get(t.Context(), "a1")
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
		err = files.Put(t.Context(), "a1", "image/png", []byte("x"))
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
		require.ErrorContains(t, err, strconv.Itoa(status))
		require.NoError(t, files.Close())
	}
}

// run runs the check until the test ends.
func run(t *testing.T, address string) *images.Check {
	t.Helper()
	files, err := images.Open(t.Context(), address)
	require.NoError(t, err)
	check := images.NewCheck(files)
	require.Error(t, check.Ready(t.Context()))
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	testenv.Run(t, check.Part(slog.New(slog.DiscardHandler)).Run)
	return check
}

// namesCause reports whether the error says more than that the store is not ready yet.
func namesCause(err error) bool {
	return err != nil && len(err.Error()) > len("the image store (GIFTING_IMAGES_URL) has not taken a file yet: ")
}

// storeVariable holds the URL of the store for the process that a test starts: a process reads its authorities once.
const storeVariable = "IMAGES_TEST_STORE"

// TestAProcessThatStoresFiles is the process that TestS3BehindAPrivateAuthority starts.
func TestAProcessThatStoresFiles(t *testing.T) {
	t.Parallel()
	address := os.Getenv(storeVariable)
	if address == "" {
		t.Skip("runs only as a process of TestS3BehindAPrivateAuthority") // It needs the server of that test.
	}
	check := run(t, address)
	asked := func() bool { return check.Ready(t.Context()) == nil || namesCause(check.Ready(t.Context())) }
	require.Eventually(t, asked, time.Minute, time.Millisecond)
	require.NoError(t, check.Ready(t.Context()))
	files, err := images.Open(t.Context(), address)
	require.NoError(t, err)
	requireStored(t, files)
	require.NoError(t, files.Close())
}

func TestS3BehindAPrivateAuthority(t *testing.T) {
	t.Parallel()
	trusted, others := t.TempDir(), t.TempDir()
	signer := newAuthority(t, trusted)
	newAuthority(t, others)
	for name, tc := range map[string]struct{ parameters, folders, refused string }{
		"in a folder beside that of the image": {"", others + ":" + trusted, ""},
		"not among the authorities":            {"", others, "certificate signed by unknown authority"},
		// The server does not know checksums behind the content.
		"that changes files": {"&request_checksum_calculation=when_supported", trusted, "the store changed the file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := storeOverTLS(t, signer) + tc.parameters // Of its own: the processes store files of the same names.
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProcessThatStoresFiles$")
			command.Env = append(os.Environ(), storeVariable+"="+address, "SSL_CERT_DIR="+tc.folders, "SSL_CERT_FILE=/none",
				"AWS_CA_BUNDLE=", "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret")
			output, err := command.CombinedOutput()
			require.Equal(t, tc.refused == "", err == nil, string(output))
			require.Contains(t, string(output), tc.refused)
		})
	}
}

// newAuthority makes an authority whose certificate is in the folder.
func newAuthority(t *testing.T, folder string) *authority.Authority {
	t.Helper()
	made, err := authority.New("Test", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "ca.crt"), made.Cert, 0o600))
	return made
}

// storeOverTLS returns the URL of a bucket of an S3 server with a certificate of the authority.
func storeOverTLS(t *testing.T, signer *authority.Authority) string {
	t.Helper()
	pair, err := signer.Issue(authority.Request{
		Hosts: []string{"127.0.0.1"}, From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour),
	})
	require.NoError(t, err)
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("gifting-images"))
	server := httptest.NewUnstartedServer(gofakes3.New(backend).Server())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return "s3://gifting-images?region=us-east-1&use_path_style=true&hostname_immutable=true&endpoint=" + url.QueryEscape(server.URL)
}
