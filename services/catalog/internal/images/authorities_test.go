package images_test

import (
	"crypto/tls"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/services/catalog/internal/images"
)

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
	address := storeOverTLS(t, newAuthority(t, trusted))
	newAuthority(t, others)
	for name, tc := range map[string]struct{ address, folders, refused string }{
		"in a folder beside that of the image": {address, others + ":" + trusted, ""},
		"not among the authorities":            {address, others, "certificate signed by unknown authority"},
		// The server does not know checksums behind the content.
		"that changes files": {address + "&request_checksum_calculation=when_supported", trusted, "the store changed the file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProcessThatStoresFiles$")
			command.Env = append(os.Environ(), storeVariable+"="+tc.address, "SSL_CERT_DIR="+tc.folders, "SSL_CERT_FILE=/none",
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
