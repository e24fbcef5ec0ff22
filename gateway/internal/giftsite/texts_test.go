package giftsite

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/country"
)

func read(t *testing.T) *translations {
	t.Helper()
	tr, err := readTranslations()
	require.NoError(t, err)
	return tr
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func TestEveryTranslationHasEveryTextWithItsPlaceholders(t *testing.T) {
	t.Parallel()
	tr := read(t)
	for _, other := range tr.all[1:] {
		require.Len(t, other.words, len(tr.all[0].words), other.Lang)
		for key, english := range tr.all[0].words {
			translated, ok := other.words[key]
			require.True(t, ok, "%s: %s", other.Lang, key)
			require.NotEmpty(t, translated, "%s: %s", other.Lang, key)
			want, have := placeholder.FindAllString(english, -1), placeholder.FindAllString(translated, -1)
			slices.Sort(want)
			slices.Sort(have)
			require.Equal(t, want, have, "%s: %s", other.Lang, key)
		}
	}
}

var used = regexp.MustCompile(`\.T\(?\s*"([\w.]+)"`)

func TestEveryTextThatThePagesUseExists(t *testing.T) {
	t.Parallel()
	t1 := read(t).all[0]
	var found int
	for _, pattern := range []string{"*.go", "pages/*.tmpl"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, use := range used.FindAllSubmatch(content, -1) {
				require.True(t, t1.Has(string(use[1])), "%s: %s", file, use[1])
				found++
			}
		}
	}
	require.Greater(t, found, 40)
	for _, state := range []string{
		stateThanks, stateClaimed, stateExpired, stateWaiting, stateUnknown, stateFailing, stateLimited, stateRefused,
	} {
		require.True(t, t1.Has(state+".heading"), state)
		require.True(t, t1.Has(state+".text"), state)
	}
	for _, in := range inputs {
		require.True(t, t1.Has(in.ID), in.ID)
	}
}

func TestTheClosestLanguageIsUsed(t *testing.T) {
	t.Parallel()
	tr := read(t)
	for header, want := range map[string]string{
		"": "en-US", "sv": "sv-SE", "sv-FI,fi;q=0.9": "sv-SE", "de-CH;q=0.8, en;q=0.2": "de-DE", "ja": "en-US",
		"en-GB, sv;q=0.5": "en-US", "fi, sv;q=0.5": "sv-SE", ";;;": "en-US", "\xff": "en-US", "*": "en-US",
	} {
		require.Equal(t, want, tr.accepted(header).Lang, header)
	}
}

func TestEveryCountryHasANameInEveryLanguage(t *testing.T) {
	t.Parallel()
	for _, texts := range read(t).all {
		require.Len(t, texts.countries, len(country.All()))
		for _, c := range texts.countries {
			require.NotEmpty(t, c.Name, c.Code)
		}
	}
}

func TestAPlaceholderIsReplacedOnce(t *testing.T) {
	t.Parallel()
	require.Equal(t, "A gift for {label}", read(t).all[0].T("gift.for", "label", "{label}"))
}

func TestAKnownDimensionIsTranslated(t *testing.T) {
	t.Parallel()
	german := read(t).of("de-DE")
	require.Equal(t, "Farbe", german.dimension("Colour"))
	require.Equal(t, "Gravur", german.dimension("Gravur"))
}
