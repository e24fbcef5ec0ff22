package programs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
)

func TestCheckOfAnEnvironment(t *testing.T) {
	t.Parallel()
	shop := programs.Program{Name: "shop", Settings: map[string]settings.Field{
		"GIFTING_SIGN": {Required: true}, "GIFTING_SAFE": {Secret: true}, "GIFTING_BELL": {},
	}}
	sign := programs.Variable{Name: "GIFTING_SIGN", Value: "open"}
	for name, tc := range map[string]struct {
		environment []programs.Variable
		wrong       []string
	}{
		"required settings are enough":   {[]programs.Variable{sign}, nil},
		"a secret from a secret store":   {[]programs.Variable{sign, {Name: "GIFTING_SAFE", Secret: true}}, nil},
		"a variable that is no setting":  {[]programs.Variable{sign, {Name: "HOME"}}, nil},
		"a required setting as a secret": {[]programs.Variable{{Name: "GIFTING_SIGN", Secret: true}}, nil},
		"a missing required setting":     {nil, []string{"shop lacks GIFTING_SIGN"}},
		"an unknown setting": {
			[]programs.Variable{sign, {Name: "GIFTING_SING"}}, []string{"GIFTING_SING is not a setting of shop"},
		},
		"a secret in plain text": {
			[]programs.Variable{sign, {Name: "GIFTING_SAFE", Value: "1234"}}, []string{"GIFTING_SAFE is a secret in plain text"},
		},
		"a setting that is defined twice": {[]programs.Variable{sign, sign}, []string{"GIFTING_SIGN is set twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.wrong, shop.Check(tc.environment))
		})
	}
}

func TestEveryServiceIsListedWithItsSettingsAndItsOwnPort(t *testing.T) {
	t.Parallel()
	ports, listed := map[int]bool{}, map[string]bool{}
	started, named := map[string]bool{}, []identity.Name(nil)
	for _, p := range programs.All() {
		for _, port := range slices.Compact([]int{p.Port, p.GRPCPort}) {
			require.False(t, ports[port], p.Name)
			require.Less(t, port, programs.MetricsOffset)
			ports[port] = true
		}
		listed[p.Main()], named = true, append(named, p.Name)
		_, keeps := p.Settings["GIFTING_DATABASE_URL"]
		require.Equal(t, keeps, p.Database != "", p.Name)
		for _, other := range programs.All() {
			// A setting that is not required is for a command or for background work, which needs no order.
			calls := p.Settings[settings.Prefix+other.PeerSetting()].Required
			require.True(t, !calls || started[other.PeerSetting()], "%s calls %s, which starts later", p.Name, other.Name)
		}
		started[p.PeerSetting()] = true
	}
	require.ElementsMatch(t, identity.Programs(), named)
	for _, pattern := range []string{"services/*/cmd/*", "gateway/cmd/*"} {
		folders, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		for _, folder := range folders {
			path, err := filepath.Rel("../..", folder)
			require.NoError(t, err)
			info, err := os.Stat(folder)
			require.NoError(t, err)
			require.True(t, !info.IsDir() || listed[path], "%s is not in the list of programs", path)
		}
	}
}
