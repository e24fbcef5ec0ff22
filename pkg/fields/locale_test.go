package fields_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
)

func TestATextFallsBackToTheClosestLocale(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][]string{
		"en-US":      {"en-US", "en"},
		"sv-SE":      {"sv-SE", "sv", "en-US"},
		"sv":         {"sv", "sv-SE", "en-US"},
		"de-AT":      {"de-AT", "de", "de-DE", "en-US"},
		"en-GB":      {"en-GB", "en-001", "en", "en-US"},
		"pt-AO":      {"pt-AO", "pt-PT", "pt", "pt-BR", "en-US"},
		"es-MX":      {"es-MX", "es-419", "es", "es-ES", "en-US"},
		"zh-Hant-HK": {"zh-Hant-HK", "zh-Hant", "zh-Hant-TW", "en-US"},
		"ar":         {"ar", "ar-EG", "en-US"},
		"no locale":  {"no locale", "en-US"},
		"":           {"", "en-US"},
	} {
		require.Equal(t, want, fields.LocaleFallbacks(tag), tag)
	}
}
