package giftingctl_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
)

func TestCertificatesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	calls := 0
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		calls++
		return nil, nil
	})
	for name, tc := range map[string]struct {
		change func(t *testing.T, dir string)
		code   int
		want   string
	}{
		"expired": {func(t *testing.T, dir string) {
			t.Helper()
			request := identitytest.Request(identity.Operator)
			request.From, request.Until = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
			services.Authority.Files(t, dir, request)
		}, 2, "the certificate is not valid now"},
		"without an identity": {func(t *testing.T, dir string) {
			t.Helper()
			services.Authority.Files(t, dir, authority.Request{
				Hosts: []string{"ann"}, From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour),
			})
		}, 2, "0 URI SANs"},
		"with the key of another": {func(t *testing.T, dir string) {
			t.Helper()
			other := services.Authority.Config(t, identity.Operator)
			key, err := os.ReadFile(other.KeyFile)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
		}, 2, "private key does not match public key"},
		"without a key": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(dir, "tls.key")))
		}, 2, "tls.key: no such file"},
		"with a key that others may read": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Chmod(filepath.Join(dir, "tls.key"), 0o640)) //nolint:gosec // Others may read it, which is the test.
		}, 2, "others may read this private key: chmod 600"},
		"of another authority": {func(t *testing.T, dir string) {
			t.Helper()
			pair, err := identitytest.New(t).Issue(identitytest.Request(identity.Operator))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.crt"), pair.Cert, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), pair.Key, 0o600))
		}, 3, "check the addresses, ca, certificate and key of the context"},
		"with another authority for servers": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.crt"), identitytest.New(t).Cert, 0o600))
		}, 3, "certificate signed by unknown authority"},
		"in a file of contexts that others may change": {func(t *testing.T, dir string) {
			t.Helper()
			contexts := filepath.Join(dir, "giftingctl.yaml")
			require.NoError(t, os.Chmod(contexts, 0o666)) //nolint:gosec // Others may change it, which is the test.
		}, 2, "others may change it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(services.Config))))
			for _, file := range []string{"tls.key", "giftingctl.yaml"} {
				require.NoError(t, os.Chmod(filepath.Join(dir, file), 0o600))
			}
			config := filepath.Join(dir, "giftingctl.yaml")
			require.Zero(t, run(t, config, "regions", "list").code)
			tc.change(t, dir)
			before := calls
			refused := run(t, config, "regions", "list")
			require.Equal(t, tc.code, refused.code, refused.err)
			require.Contains(t, refused.err, tc.want)
			require.Equal(t, before, calls)
			if tc.code == 2 {
				require.Equal(t, 2, run(t, config, "context", "show").code)
			}
		})
	}
}
