package giftsite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/giftsite"
)

func TestAPageIsInTheClosestLocaleWithTexts(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]struct {
		locales []string
		speaks  bool
	}{
		"en-US": {[]string{"en-US"}, true},
		"en-AU": {[]string{"en-US"}, true},
		"de-AT": {[]string{"de-AT", "de-DE", "en-US"}, true},
		"sv-FI": {[]string{"sv-SE", "en-US"}, true},
		"pt-BR": {[]string{"pt-PT", "en-US"}, true},
		"ar-SA": {[]string{"ar", "en-US"}, true},
		"fo-FO": {[]string{"da-DK", "en-US"}, false},
		"ja-JP": {[]string{"en-US"}, false},
	} {
		require.Equal(t, want.locales, giftsite.PageLocales(tag), tag)
		require.Equal(t, want.speaks, giftsite.Speaks(tag), tag)
	}
}
