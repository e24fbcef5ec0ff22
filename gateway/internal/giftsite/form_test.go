package giftsite

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// FuzzForm: every accepted form can be passed on, and its texts cannot inject HTML into the page.
func FuzzForm(f *testing.F) {
	for _, body := range []string{
		filled().Encode(), "choice=Colour%3DGrey%26Size%3DM&v:Size=M", "name=%ff%00&city=%F0%9F%98%80", "choice=%25zz&v:=&v:%ff=x",
		"step=address&gift=shirt&name=%22%3E%3Cscript%3E", "&&&==", "a;b=c", strings.Repeat("v:a=b&", 50),
	} {
		f.Add(body)
	}
	site := &Site{}
	var err error
	site.translations, err = readTranslations()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/c/"+token, strings.NewReader(body))
		r.Header.Set("Content-Type", formType)
		read, err := readForm(httptest.NewRecorder(), r)
		if err != nil {
			return
		}
		_, err = proto.Marshal(read.recipient())
		require.NoError(t, err)
		for dimension, value := range read.Picked {
			require.True(t, utf8.ValidString(dimension+value))
		}
		page := openPage()
		for _, gift := range page.GetGifts()[:2] {
			v := &visit{r: r, link: page, draft: &linksv1.ClaimDraft{
				Version: 1, Gift: &linksv1.ClaimChoiceOfGift{ProductId: gift.GetProductId(), Variations: knownValues(gift, read.Picked)},
				Recipient: read.recipient(), Answer: violations(problem.FieldInvalid, read.InvalidText...),
			}}
			for name, view := range map[string]branded{
				pageGift: site.giftView(v, gift), pageAddress: site.addressView(v), pageReview: site.reviewView(v), pageList: site.listView(v),
				pageCorrect: site.correctView(v, placedOrder().GetGift()),
			} {
				w := httptest.NewRecorder()
				site.render(w, http.StatusOK, name, view)
				requireOnlyOurScript(t, w.Body.String())
				require.Equal(t, 1, strings.Count(w.Body.String(), "</html>"), name)
			}
		}
	})
}

func TestContrastIsThatOfWCAG(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 21, contrast(white, rgb{}), 0.001)
	require.InDelta(t, 1, contrast(white, white), 0.001)
	require.InDelta(t, 4.54, contrast(white, mustColour("#767676")), 0.01)
	require.InDelta(t, 4.48, contrast(white, mustColour("#777777")), 0.01)
}

func TestEveryColourMakesAReadablePalette(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	colours := []string{
		"#000000", "#ffffff", "#ffff00", "#0000ff", "#ff0000", "#00ff00", "#1B4B8F", "#0FA3B1", "#B8860B",
		"#7A1F3D", "#787878", "#848484",
	}
	for range 2000 {
		colours = append(colours, rgb{random.Float64(), random.Float64(), random.Float64()}.String())
	}
	for i, colour := range colours {
		look := newTheme(colour, colours[len(colours)-1-i])
		for _, p := range []palette{look.Light, look.Dark} {
			require.GreaterOrEqual(t, contrast(p.OnPanel, p.Panel), readable, colour)
			require.GreaterOrEqual(t, contrast(p.OnFill, p.Fill), readable, colour)
		}
		for _, ground := range []rgb{white, surface, look.Light.Tint} {
			require.GreaterOrEqual(t, contrast(look.Light.Ink, ground), readable, colour)
			require.GreaterOrEqual(t, contrast(dark, ground), readable, colour)
		}
		for _, ground := range []rgb{dark, darkCard, look.Dark.Tint} {
			require.GreaterOrEqual(t, contrast(look.Dark.Ink, ground), readable, colour)
			require.GreaterOrEqual(t, contrast(mustColour("#b9b7b2"), ground), readable, colour)
		}
		require.GreaterOrEqual(t, contrast(look.Light.Rim, surface), float64(visible), colour)
		require.GreaterOrEqual(t, contrast(look.Dark.Rim, darkCard), float64(visible), colour)
		require.GreaterOrEqual(t, contrast(look.Dark.Panel, darkCard), 1.2, "the wrapping paper of %s is seen on dark pages", colour)
	}
}

// A dark colour stays that of the brand when it becomes lighter for dark pages.
func TestDarkPagesKeepTheHueOfADarkBrand(t *testing.T) {
	t.Parallel()
	p := newTheme("#0A2540", "").Dark
	for _, c := range []rgb{p.Fill, p.Panel} {
		require.Less(t, c[0], 0.6*c[2], "it is blue, not grey: %s", c)
	}
	require.Less(t, p.Ink[0], 0.8*p.Ink[2], "%s", p.Ink)
	require.GreaterOrEqual(t, contrast(p.Ink, darkCard), contrast(darkMuted, darkCard))
	require.Contains(t, darkNeutrals, "--muted:"+darkMuted.String()+";")
	require.Equal(t, white.String(), white.lightened().String())
}

func TestAReadableColourIsNotChanged(t *testing.T) {
	t.Parallel()
	for colour, on := range map[string]string{"#1b4b8f": "#ffffff", "#ffe14d": dark.String(), "#0fa3b1": dark.String()} {
		p := newTheme(colour, "").Light
		require.Equal(t, colour, p.Fill.String())
		require.Equal(t, on, p.OnFill.String())
	}
	require.Equal(t, "#1b4b8f", newTheme("#1b4b8f", "").Light.Ink.String())
	require.NotEqual(t, "#ffe14d", newTheme("#ffe14d", "").Light.Ink.String(), "too light for text")
}

func TestTheAccentIsOnlyForButtonsAndLinks(t *testing.T) {
	t.Parallel()
	p := newTheme("#1b4b8f", "#7a1f3d").Light
	require.Equal(t, []string{"#1b4b8f", "#7a1f3d", "#7a1f3d"}, []string{p.Panel.String(), p.Fill.String(), p.Ink.String()})
}

func TestAnInvalidColourIsTheDefault(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "#fff", "red", "#12345g", "#1234567", "}body{", "#+12345"} {
		require.Equal(t, newTheme(defaultColour.String(), ""), newTheme(text, text), text)
	}
}
