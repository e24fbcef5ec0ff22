package redisconn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/redisconn"
)

func TestABadURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"redis://:s3cr%ztpassword@redis:6379", "http://:s3cret@redis", "redis://:s3cret@redis:6379/x"} {
		_, err := redisconn.Open(address)
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "s3cr")
	}
}

func TestAClientIsMadeWithoutConnecting(t *testing.T) {
	t.Parallel()
	client, err := redisconn.Open("redis://127.0.0.1:1/0")
	require.NoError(t, err)
	require.Equal(t, 0, client.Options().MaxRetries, "the library's form of -1: none")
	require.True(t, client.Options().ContextTimeoutEnabled)
	require.NoError(t, client.Close())
}

func TestCheckRefusesWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	require.NoError(t, redisconn.Check(""))
	require.NoError(t, redisconn.Check("redis://user:secret@h:6379/1"))
	err := redisconn.Check("redis://user:secret@h:many")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}
