package giftsite

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	portraitTag = `<img class="portrait" src="` + public + `/catalog/images/face" ` +
		`alt="Portrait of Maja Sandström" width="72" height="72">`
	signatureTag = `<img class="signature" src="` + public + `/catalog/images/ink" ` +
		`alt="Signature of Maja Sandström" width="208" height="72">`
)

func withSender() *tenantsv1.GiftSite {
	return &tenantsv1.GiftSite{Sender: &tenantsv1.Sender{
		Name: proto.String("Maja Sandström"), PortraitImageId: proto.String("face"), SignatureImageId: proto.String("ink"),
	}}
}

func TestTheNoteIsSignedByItsSender(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const unsigned = "<figcaption>A note from Nordlys Casino</figcaption>"
	require.Contains(t, f.get("").body, unsigned)
	f.page.Brand.Site = withSender()
	page := f.get("").body
	require.Contains(t, page, "<figcaption>"+signatureTag+"\n"+`<span class="from">`+portraitTag+
		`<span><b><bdi>Maja Sandström</bdi></b> <bdi>Nordlys Casino</bdi></span></span></figcaption>`)
	require.NotContains(t, f.get("?step=choose").body, "Maja", "the player has read the note")

	t.Run("without a note it is the greeting", func(t *testing.T) {
		f.page.Message, f.page.Greeting = nil, proto.String("Happy midsummer!")
		require.Regexp(t, `(?s)Happy midsummer!</span></p>\s*<div class="signed"><img class="signature".*Maja Sandström</bdi>`,
			f.get("").body)
		f.page.Brand.Site = nil
		require.NotContains(t, f.get("").body, "signed")
		f.page.Brand.Site, f.page.Greeting = withSender(), nil
		require.NotContains(t, f.get("").body, "Maja", "there is nothing to sign")
		f.page.Message = proto.String("Hello")
	})
	t.Run("without a name it is the brand", func(t *testing.T) {
		f.page.Brand.Site.Sender.Name = nil
		page := f.get("").body
		require.Contains(t, page, `alt="Portrait of Nordlys Casino"`)
		require.Contains(t, page, "<span>A note from Nordlys Casino</span>")
	})
	t.Run("without pictures it is the name alone", func(t *testing.T) {
		f.page.Brand.Site.Sender = &tenantsv1.Sender{Name: proto.String("<Maja>")}
		page := f.get("").body
		require.Contains(t, page, `<b><bdi>&lt;Maja&gt;</bdi></b>`)
		require.NotContains(t, page, `class="portrait"`)
		require.NotContains(t, page, `class="signature"`)
	})
}

func TestTheSenderSignsTheThanksOnlyWithAPortrait(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.page.Brand.Site = withSender()
	require.Regexp(t, `(?s)<p>We have your choice [^<]*</p>\s*<p class="from"><img class="portrait"[^>]*><span><b><bdi>Maja Sandström`,
		f.get("").body)
	f.page.Brand.Site.Sender.PortraitImageId = nil
	require.NotContains(t, f.get("").body, `class="from"`, "a name alone says nothing there")
}

func TestAPreviewShowsTheSender(t *testing.T) {
	t.Parallel()
	page, c := openPage(), &catalog{size: 100}
	page.Brand.Site = withSender()
	document := previewed(t, pageOfGreeting, page, c)
	require.Equal(t, []string{"logo", "ink", "face"}, c.read)
	require.Regexp(t, `<img class="portrait" alt="Portrait of Maja Sandström" width="72" height="72" src="data:image/jpeg`, document)
	none := previewed(t, pageOfGreeting, page, &catalog{size: MaxPreview})
	require.Contains(t, none, "Maja Sandström</bdi>")
	require.NotContains(t, none, "<img", "a picture that does not exist is left out")
}
