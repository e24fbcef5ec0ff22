package e2e_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"image"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// photo is a JPEG that tells where it was taken.
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

// image reads an image, which needs no key, by its URL.
func (p *platform) image(t *testing.T, method, url string, header map[string]string) answer {
	t.Helper()
	path, ours := strings.CutPrefix(url, p.env["GIFTING_URL"])
	require.True(t, ours, url)
	return p.do(t, call{method: method, path: path, header: header})
}

func (p *platform) testImages(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	uploaded, err := p.upkeep(t).UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: photo(t, 700)})
	require.NoError(t, err)
	gift := &catalogv1.PutProductRequest{
		Id: uuid.NewString(), State: catalogv1.ProductState_PRODUCT_STATE_PUBLISHED, Name: "Photo album", AvailableCountries: []string{"SE"},
		ImageFileIds: []string{uploaded.GetFileId()},
	}
	_, err = p.upkeep(t).PutProduct(t.Context(), gift)
	require.NoError(t, err)
	var listed struct {
		Images []struct {
			URL   string `json:"url"`
			Width *int   `json:"width"`
		} `json:"images"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.get(t, key, "/catalog/products/"+gift.GetId()+"?country=SE").body), &listed))
	require.Len(t, listed.Images, 3)
	require.Equal(t, []int{320, 640}, []int{*listed.Images[0].Width, *listed.Images[1].Width})
	require.Nil(t, listed.Images[2].Width)
	original := listed.Images[2].URL
	for _, shown := range listed.Images {
		got := p.image(t, http.MethodGet, shown.URL, nil)
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, "image/jpeg", got.header.Get("Content-Type"))
		require.NotContains(t, got.body, "GPS")
	}
	whole := p.image(t, http.MethodGet, original, nil)
	t.Run("are answered in parts, and not at all to who has them", func(t *testing.T) {
		part := p.image(t, http.MethodGet, original, map[string]string{"Range": "bytes=2-5"})
		require.Equal(t, http.StatusPartialContent, part.status)
		require.Equal(t, whole.body[2:6], part.body)
		same := p.image(t, http.MethodGet, original, map[string]string{"If-None-Match": whole.header.Get("ETag")})
		require.Equal(t, http.StatusNotModified, same.status)
		requireProblem(t, p.image(t, http.MethodGet, original, map[string]string{"Range": "bytes=9999999-"}),
			http.StatusRequestedRangeNotSatisfiable, "range_not_satisfiable")
		head := p.image(t, http.MethodHead, original, nil)
		require.Equal(t, whole.header.Get("Content-Length"), head.header.Get("Content-Length"))
	})
	t.Run("are closed with their gift", func(t *testing.T) {
		gift.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
		_, err := p.upkeep(t).PutProduct(t.Context(), gift)
		require.NoError(t, err)
		for _, shown := range listed.Images {
			requireProblem(t, p.image(t, http.MethodGet, shown.URL, nil), http.StatusNotFound, "not_found")
		}
	})
	t.Run("of a brand's logo open by the brand", func(t *testing.T) {
		logos := catalogv1.NewBrandLogosServiceClient(p.dial(t, "GIFTING_GRPC_CATALOG"))
		logo, err := logos.UploadBrandLogo(t.Context(), &catalogv1.UploadBrandLogoRequest{
			TenantId: seed.Direct, BrandId: seed.Brand, Content: photo(t, 90),
		})
		require.NoError(t, err)
		var brands []map[string]any
		require.NoError(t, json.Unmarshal([]byte(p.get(t, key, "/brands").body), &brands))
		i := 0
		for brands[i]["id"] != seed.Brand {
			i++
		}
		name, _ := brands[i]["name"].(string)
		slug, _ := brands[i]["slug"].(string)
		brand := &tenantsv1.Brand{Id: seed.Brand, Name: name, Slug: slug}
		if colour, ok := brands[i]["primaryColour"].(string); ok {
			brand.PrimaryColour = &colour
		}
		before := proto.CloneOf(brand)
		if url, ok := brands[i]["logoUrl"].(string); ok {
			before.LogoUrl = &url
		}
		brand.LogoUrl = &logo.Url
		tenants := tenantsv1.NewTenantOperationsServiceClient(p.dial(t, "GIFTING_GRPC_TENANTS"))
		_, err = tenants.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{TenantId: seed.Direct, Brand: brand})
		require.NoError(t, err)
		defer func() {
			_, err := tenants.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{TenantId: seed.Direct, Brand: before})
			require.NoError(t, err)
		}()
		require.Contains(t, p.get(t, key, "/brands").body, logo.GetUrl())
		require.Equal(t, http.StatusOK, p.image(t, http.MethodGet, logo.GetUrl(), nil).status)
	})
}
