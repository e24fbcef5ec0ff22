package gateway

import (
	"github.com/partnergifting/platform/gateway/internal/giftsite"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// PreviewPages lists the pages that PreviewGiftSite can show.
func PreviewPages() []string { return giftsite.Previews() }

// PreviewGiftSite renders a page of the gift site as HTML for a link that does not exist. It reads and writes nothing. publicURL is
// the base address of the API, from which alone the pages load pictures.
func PreviewGiftSite(page string, link *linksv1.GetClaimPageResponse, publicURL string) ([]byte, error) {
	return giftsite.Preview(page, link, giftsite.Config{PublicURL: publicURL})
}
