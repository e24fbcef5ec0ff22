package apikey_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
)

func TestANewKeyNamesItsEnvironment(t *testing.T) {
	for _, env := range []apikey.Environment{apikey.Production, apikey.Sandbox} {
		key := apikey.New(env)
		got, err := apikey.Parse(key)
		require.NoError(t, err)
		require.Equal(t, env, got)
		require.Less(t, len(apikey.Shown(key)), len(key)/2)
		require.NotEqual(t, key, apikey.New(env))
	}
}

func TestEnvironments(t *testing.T) {
	require.NoError(t, apikey.Production.Validate())
	require.NoError(t, apikey.Sandbox.Validate())
	require.ErrorIs(t, apikey.Environment("prod").Validate(), apikey.ErrEnvironment)
	require.ErrorIs(t, apikey.Environment("").Validate(), apikey.ErrEnvironment)
}

func TestOneWrongCharacterIsCaught(t *testing.T) {
	key := apikey.New(apikey.Sandbox)
	for i := range key {
		changed := []byte(key)
		changed[i] ^= 1
		_, err := apikey.Parse(string(changed))
		require.ErrorIs(t, err, apikey.ErrMalformed, "character %d", i)
	}
	for _, s := range []string{"", "gft_", "gft_sbx_", key + "0", key[1:]} {
		_, err := apikey.Parse(s)
		require.ErrorIs(t, err, apikey.ErrMalformed)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(apikey.New(apikey.Production))
	f.Add("gft_sbx_")
	f.Fuzz(func(t *testing.T, key string) {
		if _, err := apikey.Parse(key); err == nil {
			require.NotEmpty(t, apikey.Shown(key))
		}
	})
}
