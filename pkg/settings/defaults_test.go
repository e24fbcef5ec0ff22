package settings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/settings"
)

func TestDefaultsFillWhatIsNotSet(t *testing.T) {
	t.Parallel()
	type inner struct {
		Size  int32         `env:"SIZE" envDefault:"16" check:"min=1"`
		Delay time.Duration `env:"DELAY" envDefault:"5s" check:"min=0s"`
		URL   string        `env:"URL,required"`
	}
	type outer struct {
		Name  string        `env:"NAME" envDefault:"gifting" check:"oneof=gifting|other"`
		Keep  time.Duration `env:"KEEP" envDefault:"720h"`
		Inner inner         `envPrefix:"INNER_"`
		Other int
	}
	var cfg outer
	require.NoError(t, settings.Defaults(&cfg))
	require.Equal(t, outer{Name: "gifting", Keep: 720 * time.Hour, Inner: inner{Size: 16}}, cfg, "a delay may be zero")

	set := outer{Name: "other", Keep: time.Hour, Inner: inner{Size: 1, Delay: time.Second}}
	same := set
	require.NoError(t, settings.Defaults(&same))
	require.Equal(t, set, same)
}

func TestDefaultsThatCannotBeReadAreReported(t *testing.T) {
	t.Parallel()
	require.Error(t, settings.Defaults(config{}), "not a pointer")
	require.ErrorContains(t, settings.Defaults(&struct {
		Keep time.Duration `env:"KEEP" envDefault:"soon"`
	}{}), "GIFTING_KEEP")
}
