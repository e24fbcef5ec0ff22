package giftsite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/giftsite"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestWhatIsBlankIsAbsent(t *testing.T) {
	t.Parallel()
	blank := " \u200b"
	var errs fields.Errors
	site := giftsite.Check(&tenantsv1.GiftSite{
		PrivacyUrl: &blank, TermsUrl: &blank, SupportUrl: &blank, ImprintUrl: &blank, HomeUrl: &blank,
		Theme: &tenantsv1.Theme{AccentColour: &blank, HeroImageId: &blank},
	}, &errs)
	require.NoError(t, errs.Err())
	require.Equal(t, giftsite.Check(&tenantsv1.GiftSite{}, &errs).String(), site.String())
}
