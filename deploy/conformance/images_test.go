package conformance_test

import (
	"bytes"
	"crypto/rand"
	"image"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// photo is a JPEG that says where it was taken.
func photo(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	picture := image.NewGray(image.Rect(0, 0, width, width/2))
	_, _ = rand.Read(picture.Pix[:width]) // The same bytes would be the same file.
	require.NoError(t, jpeg.Encode(&b, picture, nil))
	const position = "Exif\x00\x00GPS 59.3293 N 18.0686 E"
	segment := append([]byte{0xFF, 0xE1, 0, byte(len(position) + 2)}, position...)
	return append(append(bytes.Clone(b.Bytes()[:2]), segment...), b.Bytes()[2:]...)
}

// image reads an image by its URL, without a key.
func (f *fixture) image(t *testing.T, method, url string, header map[string]string) answer {
	t.Helper()
	path, ok := strings.CutPrefix(url, f.Env["GIFTING_URL"])
	require.True(t, ok, url)
	return f.Do(t, call{Method: method, Path: path, Header: header})
}

// imagesOf are the URLs of a gift's images; the original is the last.
func (f *fixture) imagesOf(t *testing.T, giftID string) (urls []string) {
	t.Helper()
	for _, one := range f.gift(t, giftID, "country=SE")["images"].([]any) {
		urls = append(urls, one.(record)["url"].(string))
	}
	return urls
}

func testImages(t *testing.T, p *platform) {
	f := newFixture(t, p)
	gift := f.richGift(t)
	images := f.imagesOf(t, gift.GetId())
	original := images[len(images)-1]
	requirement(t, "IMG-1", func(t *testing.T) {
		for _, url := range images {
			got := f.image(t, http.MethodGet, url, nil)
			require.Equal(t, http.StatusOK, got.Status)
			require.NotContains(t, got.Body, "GPS")
		}
	})
	requirement(t, "IMG-3", func(t *testing.T) {
		for _, accept := range []string{"text/html", "image/webp", "application/json"} {
			a := f.image(t, http.MethodGet, original, map[string]string{"Accept": accept})
			require.Equal(t, http.StatusOK, a.Status)
			require.Equal(t, "image/jpeg", a.Header.Get("Content-Type"))
		}
	})
	// On demand: the fixture's campaigns have gifts with one dimension.
	gift.Variations = gift.GetVariations()[:1]
	f.putProduct(t, gift)
	campaign := f.campaign(t, -1, gift)
	requirement(t, "IMG-2", func(t *testing.T) {
		other := f.richGift(t)
		unused := f.imagesOf(t, other.GetId())
		f.putInState(t, gift, archived)
		f.putInState(t, other, archived)
		for _, status := range []catalogv1.CampaignStatus{campaign.GetStatus(), catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED} {
			campaign.Status = status
			f.putCampaign(t, campaign)
			require.Equal(t, http.StatusOK, f.image(t, http.MethodGet, original, nil).Status, status)
		}
		f.image(t, http.MethodGet, unused[0], nil).Problem(t, "not_found")
	})
	requirement(t, "ERR-64", func(t *testing.T) {
		for _, accept := range []string{"text/html", "image/webp", "application/json;q=0, image/*", "*/*;q=0"} {
			header := map[string]string{"Accept": accept}
			require.Equal(t, http.StatusOK, f.image(t, http.MethodGet, original, header).Status, accept)
			f.Do(t, call{Method: http.MethodGet, Path: "/catalog/images/" + uuid.NewString(), Header: header}).Problem(t, "not_found")
		}
	})
	t.Run("an image is read in parts, and not again while it is the same", func(t *testing.T) {
		whole := f.image(t, http.MethodGet, original, nil)
		part := f.image(t, http.MethodGet, original, map[string]string{"Range": "bytes=2-5"})
		require.Equal(t, http.StatusPartialContent, part.Status)
		require.Equal(t, whole.Body[2:6], part.Body)
		same := f.image(t, http.MethodGet, original, map[string]string{"If-None-Match": whole.Header.Get("ETag")})
		require.Equal(t, http.StatusNotModified, same.Status)
		f.image(t, http.MethodGet, original, map[string]string{"Range": "bytes=9999999-"}).Problem(t, "range_not_satisfiable")
		head := f.image(t, http.MethodHead, original, nil)
		require.Equal(t, whole.Header.Get("Content-Length"), head.Header.Get("Content-Length"))
	})
}
