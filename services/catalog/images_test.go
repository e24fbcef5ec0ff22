package catalog_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"image"
	"image/color"
	imagejpeg "image/jpeg"
	imagepng "image/png"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Small images.
var (
	png     = encoded(func(b *bytes.Buffer) error { return imagepng.Encode(b, drawing(8, 6)) })
	jpeg    = encoded(func(b *bytes.Buffer) error { return imagejpeg.Encode(b, drawing(8, 6), nil) })
	webp, _ = base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
)

func drawing(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetRGBA(x, y, color.RGBA{R: uint8(x), G: uint8(y), B: 200, A: 255})
		}
	}
	return img
}

func encoded(encode func(b *bytes.Buffer) error) []byte {
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		panic(err) // A buffer takes everything.
	}
	return b.Bytes()
}

func wideJPEG(width int) []byte {
	return encoded(func(b *bytes.Buffer) error { return imagejpeg.Encode(b, drawing(width, 1+width/20), nil) })
}

func (s *stack) upload(content []byte) string {
	s.t.Helper()
	resp, err := s.ops.UploadImage(s.t.Context(), &catalogv1.UploadImageRequest{Content: content})
	require.NoError(s.t, err)
	return resp.GetFileId()
}

func (s *stack) image(fileID string) *catalogv1.GetImageResponse {
	s.t.Helper()
	got, err := s.images.GetImage(s.t.Context(), &catalogv1.GetImageRequest{FileId: fileID})
	require.NoError(s.t, err)
	return got
}

// open says whether the public can see a file.
func (s *stack) open(fileID string) bool {
	s.t.Helper()
	_, err := s.images.GetImage(s.t.Context(), &catalogv1.GetImageRequest{FileId: fileID})
	if err != nil {
		require.True(s.t, problem.Is(err, problem.NotFound), "%v", err)
	}
	return err == nil
}

// listed gives the images of a gift as a reader sees them: the file ids and, of renditions, widths.
func (s *stack) listed(productID string) (ids []string, widths []int32) {
	s.t.Helper()
	got, err := s.catalog.GetProduct(s.as(1), &catalogv1.GetProductRequest{ProductId: productID, Country: "SE"})
	require.NoError(s.t, err)
	for _, i := range got.GetProduct().GetImages() {
		id, ours := strings.CutPrefix(i.GetUrl(), publicURL+"/catalog/images/")
		require.True(s.t, ours)
		ids = append(ids, id)
		if i.Width != nil {
			widths = append(widths, i.GetWidth())
		}
	}
	return ids, widths
}

func TestUploadedImages(t *testing.T) {
	s := setup(t)
	for name, tc := range map[string]struct {
		content     []byte
		contentType string
	}{"PNG": {png, "image/png"}, "JPEG": {jpeg, "image/jpeg"}, "WebP": {webp, "image/png"}} {
		t.Run(name, func(t *testing.T) {
			id := s.upload(tc.content)
			require.Equal(t, id, s.upload(tc.content), "the same bytes have the same id")
			s.put(gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{id} }))
			got := s.image(id)
			require.Equal(t, tc.contentType, got.GetContentType())
			sum := sha256.Sum256(got.GetContent())
			require.Equal(t, hex.EncodeToString(sum[:]), got.GetDigest())
			require.Equal(t, id, got.GetDigest()[:32])
		})
	}
	t.Run("anything else is refused", func(t *testing.T) {
		for _, content := range [][]byte{[]byte("GIF89a"), []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), png[:40], jpeg[:90]} {
			_, err := s.ops.UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: content})
			require.Equal(t, map[string]string{"content": problem.FieldInvalid}, violations(t, err))
		}
		_, err := s.ops.UploadImage(t.Context(), &catalogv1.UploadImageRequest{})
		require.Equal(t, map[string]string{"content": problem.FieldRequired}, violations(t, err))
	})
	t.Run("10 MB and 8192 pixels in a row are the limits", func(t *testing.T) {
		const tenMB = 10 << 20
		large := append(bytes.Clone(png), make([]byte, tenMB-len(png))...)
		require.Equal(t, s.upload(png), s.upload(large), "what follows the image does not count")
		for _, content := range [][]byte{append(large, 0), wideJPEG(8193)} {
			_, err := s.ops.UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: content})
			require.Equal(t, map[string]string{"content": problem.FieldTooLong}, violations(t, err))
		}
	})
}

func TestAGiftListsTheRenditionsOfItsImages(t *testing.T) {
	s := setup(t)
	wide, small := s.upload(wideJPEG(1300)), s.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{wide, small} })
	s.put(p)
	files, widths := s.listed(p.GetId())
	require.Equal(t, []int32{320, 640, 1280}, widths)
	require.Len(t, files, 5)
	require.Equal(t, []string{wide, small}, files[3:], "each original stands behind its renditions")
	for i, width := range widths {
		got := s.image(files[i])
		require.Equal(t, "image/jpeg", got.GetContentType())
		header, err := imagejpeg.DecodeConfig(bytes.NewReader(got.GetContent()))
		require.NoError(t, err)
		require.EqualValues(t, width, header.Width)
	}
	t.Run("as open as the original", func(t *testing.T) {
		p.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
		s.put(p)
		for _, id := range files {
			require.False(t, s.open(id))
		}
	})
	t.Run("and stays what it was when uploaded again", func(t *testing.T) {
		p.State = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
		before := s.put(p)
		require.Equal(t, wide, s.upload(wideJPEG(1300)))
		again, _ := s.listed(p.GetId())
		require.Equal(t, files, again)
		require.Empty(t, s.changedSince(before.Add(time.Microsecond)))
	})
	t.Run("also one stored without renditions, once it is uploaded again", func(t *testing.T) {
		_, err := s.db.Exec(t.Context(), `DELETE FROM image_renditions`)
		require.NoError(t, err)
		_, err = s.db.Exec(t.Context(), `UPDATE images SET width = NULL, height = NULL`)
		require.NoError(t, err)
		before := s.put(p)
		_, widths := s.listed(p.GetId())
		require.Empty(t, widths)
		s.upload(wideJPEG(1300))
		again, _ := s.listed(p.GetId())
		require.Equal(t, files, again)
		require.Equal(t, []string{p.GetId()}, ids(s.changedSince(before.Add(time.Microsecond))), "readers see it change")
	})
}

func TestOnlyImagesInUseAreOpen(t *testing.T) {
	s := setup(t)
	id := s.upload(png)
	require.False(t, s.open(id), "no gift uses it")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.ImageFileIds, p.State = []string{id}, catalogv1.ProductState_PRODUCT_STATE_DRAFT
	})
	s.put(p)
	require.False(t, s.open(id), "the gift is a draft")
	p.State = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
	s.put(p)
	require.True(t, s.open(id))
	c := campaign(offering(p.GetId(), catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND, nil, "S"))
	c.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	s.putCampaign(c)
	p.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	s.put(p)
	require.False(t, s.open(id), "the gift left the catalog and its campaign is in preparation")
	for _, status := range []catalogv1.CampaignStatus{
		catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED,
	} {
		c.Status = status
		s.putCampaign(c)
		require.True(t, s.open(id), "the campaign is %s", status)
	}
	for _, unknown := range []string{"", "../../etc/passwd", "ffffffffffffffffffffffffffffffff", "\x00"} {
		require.False(t, s.open(unknown))
	}
}

func TestBrandLogos(t *testing.T) {
	s := setup(t)
	put := func(content []byte, change ...func(*catalogv1.UploadBrandLogoRequest)) (*catalogv1.UploadBrandLogoResponse, error) {
		req := &catalogv1.UploadBrandLogoRequest{TenantId: tenantID, BrandId: brandID, Content: content}
		for _, c := range change {
			c(req)
		}
		return s.logos.UploadBrandLogo(t.Context(), req)
	}
	first, err := put(wideJPEG(700))
	require.NoError(t, err)
	require.Equal(t, publicURL+"/catalog/images/"+first.GetFileId(), first.GetUrl())
	require.True(t, s.open(first.GetFileId()), "though no gift shows it")
	require.Equal(t, "image/jpeg", s.image(first.GetFileId()).GetContentType())
	t.Run("the latest 20 of a brand are open", func(t *testing.T) {
		second, err := put(wideJPEG(30))
		require.NoError(t, err)
		for width := range 18 {
			_, err := put(wideJPEG(31 + width))
			require.NoError(t, err)
		}
		again, err := put(wideJPEG(700))
		require.NoError(t, err)
		require.Equal(t, first.GetUrl(), again.GetUrl())
		require.True(t, s.open(second.GetFileId()))
		_, err = put(wideJPEG(60))
		require.NoError(t, err)
		require.False(t, s.open(second.GetFileId()))
		require.True(t, s.open(first.GetFileId()), "it was uploaded again")
	})
	t.Run("what is refused", func(t *testing.T) {
		for field, change := range map[string]func(*catalogv1.UploadBrandLogoRequest){
			"tenantId": func(r *catalogv1.UploadBrandLogoRequest) { r.TenantId = uuid.NewString() },
			"brandId":  func(r *catalogv1.UploadBrandLogoRequest) { r.BrandId = uuid.NewString() },
			"content":  func(r *catalogv1.UploadBrandLogoRequest) { r.Content = []byte("<svg/>") },
		} {
			_, err := put(png, change)
			require.Equal(t, map[string]string{field: problem.FieldInvalid}, violations(t, err))
		}
		_, err := put(png, func(r *catalogv1.UploadBrandLogoRequest) { r.TenantId = otherTenantID })
		require.Equal(t, map[string]string{"brandId": problem.FieldInvalid}, violations(t, err), "another tenant's brand")
	})
}
