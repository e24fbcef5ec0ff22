package giftsite

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestEveryPageCanBePreviewedInEveryLanguage(t *testing.T) {
	t.Parallel()
	page := openPage()
	page.Brand.Site = &tenantsv1.GiftSite{
		PrivacyUrl: new("https://nordlys.example/privacy"), Theme: &tenantsv1.Theme{Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND},
	}
	for _, d := range read(t).matched {
		page.Locale = d.locale
		seen := map[string]string{}
		for _, name := range Previews() {
			html, err := Preview(name, page, Config{PublicURL: public})
			require.NoError(t, err, name)
			require.Regexp(t, `(?s)^<!DOCTYPE html>.*</html>\s*$`, string(html), name)
			require.Contains(t, string(html), `<html lang="`+d.locale+`"`, name)
			require.NotRegexp(t, `\{[a-z]+\}`, regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(string(html), ""),
				"%s %s: a placeholder is left", d.locale, name)
			require.Empty(t, seen[string(html)], "%s is like another page", name)
			seen[string(html)] = name
		}
	}
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, page.GetState(), "the page is the caller's")
}

func TestAPreviewThatCannotBeShownSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := Preview("home", openPage(), Config{PublicURL: public})
	require.ErrorIs(t, err, ErrNoPreview)
	require.ErrorContains(t, err, "greeting, choose, gift")
	empty := openPage()
	empty.Gifts = nil
	_, err = Preview("choose", empty, Config{PublicURL: public})
	require.ErrorContains(t, err, "it offers no gift")
}
