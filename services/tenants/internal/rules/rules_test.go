package rules_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/testenv"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

func TestLocale(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"en-US": "en-US", "SV-se": "sv-SE", "de": "de", "zh-hant-TW": "zh-Hant-TW", "es-419": "es-419",
	} {
		got, ok := rules.Locale(tag)
		require.True(t, ok, tag)
		require.Equal(t, want, got)
	}
	for _, tag := range []string{
		"", " ", "und", "x", "sv_SE", "english", "sv-SEE", "en-US-u-ca-gregory", "de-1996", "x-private", "sv-SE ", "å", "sv-SE\x00",
	} {
		_, ok := rules.Locale(tag)
		require.False(t, ok, "%q", tag)
	}
}

func TestATenantMayEnable200Locales(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{200: false, 201: true} {
		var errs fields.Errors
		rules.Tenant(&tenantsv1.PutTenantRequest{Locales: slices.Repeat([]string{"sv-SE"}, n)}, &errs)
		require.Equal(t, want, errs.Has("locales"), n)
	}
}

func TestLocalesWithoutTextsOfTheGiftSiteAreNamed(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"The gift site has no texts for ja-JP: its pages are in en-US.", "The gift site has no texts for fo-FO: its pages are in da-DK.",
	}, rules.LocaleWarnings(&tenantsv1.Tenant{Locales: []string{"en-US", "ja-JP", "sv-FI", "pt-BR", "fo-FO", "en-AU", "de-CH"}}))
}

func TestOptionsThatLookTheSameAreOne(t *testing.T) {
	t.Parallel()
	var errs fields.Errors
	rules.CustomField(&tenantsv1.CustomField{
		Id: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", Label: "l", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN,
		Options: []string{"Gr\u00fcn", "gr\u00fcn", "Gru\u0308n"},
	}, &errs)
	require.Len(t, errs.List(), 1)
	require.Equal(t, "field.options[2]", errs.List()[0].Field)
}

func TestWebhookURL(t *testing.T) {
	t.Parallel()
	refused := func(url string, allowLoopback bool) bool {
		var errs fields.Errors
		rules.WebhookURL("url", &url, allowLoopback, &errs)
		return errs.Err() != nil
	}
	t.Run("loopback is accepted only if it is allowed", func(t *testing.T) {
		require.True(t, refused("http://127.0.0.1:9000/", false))
		require.False(t, refused("http://127.0.0.1:9000/", true))
		require.True(t, refused("http://10.0.0.1/", true))
	})
	t.Run("a public https URL is accepted", func(t *testing.T) {
		require.False(t, refused("https://hooks.example.com:8443/a?b=c", false))
	})
	t.Run("the message says what is wrong", func(t *testing.T) {
		for url, want := range map[string]string{
			"https://hooks.example.com/#a":   "must not have a fragment, which # begins",
			"https://a:b@hooks.example.com/": "must not have a user or a password",
			"https://hooks.example.com/ ":    "must not have the character ' '",
			"https://hooks.bücher.example/":  "must have its host in ASCII: a name with other letters begins with xn-- there",
			"https://hooks.example.com/tåg":  "must have characters other than ASCII percent-encoded",
			"https://hooks.example.com:0/":   "must have no port, or one from 1 to 65535",
			"https://10.0.0.1/":              "must not lead to 10.0.0.1, which is not a public address",
			"http://hooks.example.com/":      "must begin with https://",
			"https://hooks.example.com/\u202egpj": "must be one line without control characters " +
				"and without bidirectional embeddings and overrides",
		} {
			var errs fields.Errors
			rules.WebhookURL("url", &url, false, &errs)
			require.Len(t, errs.List(), 1, url)
			require.Equal(t, want, errs.List()[0].Message, url)
		}
	})
	t.Run("no URL is valid", func(t *testing.T) {
		var errs fields.Errors
		rules.WebhookURL("url", nil, false, &errs)
		require.NoError(t, errs.Err())
	})
}

func TestAMembersAddressIsStoredAsItIsCompared(t *testing.T) {
	t.Parallel()
	check := func(email string) (*tenantsv1.TeamMember, []problem.Violation) {
		var errs fields.Errors
		m := rules.TeamMember(&tenantsv1.TeamMember{
			Id: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", Name: "Bo", Email: email, Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER,
		}, &errs)
		return m, errs.List()
	}
	m, violations := check("Bo@Bücher.example")
	require.Empty(t, violations)
	require.Equal(t, "bo@xn--bcher-kva.example", m.GetEmail())
	for email, want := range map[string]string{
		"\u200b": problem.FieldRequired, "\u200bbo@a.example": problem.FieldInvalid, " bo@a.example": problem.FieldInvalid,
	} {
		_, violations := check(email)
		require.Len(t, violations, 1, "%q", email)
		require.Equal(t, want, violations[0].Code, "%q", email)
	}
}

func TestABrandsOptionalTextsMayBeBlank(t *testing.T) {
	t.Parallel()
	blank := "\u200b"
	var errs fields.Errors
	brand := rules.Brand(&tenantsv1.Brand{
		Id: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", Name: "Aurora", Slug: "aurora", PrimaryColour: &blank, LogoUrl: &blank,
	}, &errs)
	require.NoError(t, errs.Err())
	require.Nil(t, brand.PrimaryColour)
	require.Nil(t, brand.LogoUrl)
}

// The signing secret is 64 hexadecimal characters, each of them random.
func TestASecretHas256RandomBits(t *testing.T) {
	t.Parallel()
	var secrets []string
	for range 1000 {
		s := rules.NewWebhookSecret()
		require.Regexp(t, `^[0-9a-f]{64}$`, s)
		secrets = append(secrets, s)
	}
	require.NotEqual(t, secrets[0], secrets[1])
	require.InDelta(t, 256, testenv.EntropyBits(secrets), 0.001)
}

func FuzzLocale(f *testing.F) {
	f.Add("sv-SE")
	f.Add("zh-Hant-TW")
	f.Fuzz(func(t *testing.T, tag string) {
		if got, ok := rules.Locale(tag); ok {
			again, ok := rules.Locale(got)
			require.True(t, ok)
			require.Equal(t, got, again, "the stored spelling is stable")
		}
	})
}
