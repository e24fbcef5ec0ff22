package programs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/settings"
)

func TestCheckOfAnEnvironment(t *testing.T) {
	shop := programs.Program{Name: "shop", Settings: map[string]settings.Field{
		"GIFTING_SIGN": {Variable: "GIFTING_SIGN", Required: true},
		"GIFTING_SAFE": {Variable: "GIFTING_SAFE", Secret: true},
		"GIFTING_BELL": {Variable: "GIFTING_BELL"},
	}}
	sign := programs.Variable{Name: "GIFTING_SIGN", Value: "open"}
	for name, tc := range map[string]struct {
		environment []programs.Variable
		faults      []string
	}{
		"what is required is enough":          {[]programs.Variable{sign}, nil},
		"a secret that is one":                {[]programs.Variable{sign, {Name: "GIFTING_SAFE", Secret: true}}, nil},
		"a variable that is no setting":       {[]programs.Variable{sign, {Name: "HOME"}}, nil},
		"what is required and missing":        {nil, []string{"shop lacks GIFTING_SIGN"}},
		"a setting that is not known":         {[]programs.Variable{sign, {Name: "GIFTING_SING"}}, []string{"GIFTING_SING is no setting of shop"}},
		"a secret in the open":                {[]programs.Variable{sign, {Name: "GIFTING_SAFE", Value: "1234"}}, []string{"GIFTING_SAFE is a secret and stands in the open"}},
		"a setting twice":                     {[]programs.Variable{sign, sign}, []string{"GIFTING_SIGN is set twice"}},
		"a required setting that is a secret": {[]programs.Variable{{Name: "GIFTING_SIGN", Secret: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.faults, shop.Check(tc.environment))
		})
	}
}

func TestEveryProgramTellsItsSettings(t *testing.T) {
	all, err := programs.All()
	require.NoError(t, err)
	require.Len(t, all, 7)
	for name, program := range all {
		require.Contains(t, program.Settings, "GIFTING_METRICS_ADDR", name)
		require.ErrorContains(t, program.Load(), "is required", name)
	}
}
