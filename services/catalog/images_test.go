package catalog_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// The beginnings of files, by which their types are told.
var (
	png  = []byte("\x89PNG\r\n\x1a\nfirst")
	jpeg = []byte("\xff\xd8\xff\xe0second")
	webp = []byte("RIFF\x10\x00\x00\x00WEBPVP8 third")
)

func (s *stack) upload(content []byte) string {
	s.t.Helper()
	resp, err := s.ops.UploadImage(s.t.Context(), &catalogv1.UploadImageRequest{Content: content})
	require.NoError(s.t, err)
	return resp.GetFileId()
}

func TestUploadedImages(t *testing.T) {
	s := setup(t)
	for contentType, content := range map[string][]byte{"image/png": png, "image/jpeg": jpeg, "image/webp": webp} {
		t.Run(contentType, func(t *testing.T) {
			id := s.upload(content)
			require.Equal(t, id, s.upload(content), "the same bytes have the same id")
			s.put(gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{id} }))
			got, err := s.images.GetImage(t.Context(), &catalogv1.GetImageRequest{FileId: id})
			require.NoError(t, err)
			require.Equal(t, content, got.GetContent())
			require.Equal(t, contentType, got.GetContentType())
			sum := sha256.Sum256(content)
			require.Equal(t, hex.EncodeToString(sum[:]), got.GetDigest())
		})
	}
	t.Run("anything else is refused", func(t *testing.T) {
		for _, content := range [][]byte{nil, []byte("GIF89a"), []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")} {
			_, err := s.ops.UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: content})
			require.Equal(t, map[string]string{"content": problem.FieldInvalid}, violations(t, err))
		}
	})
	t.Run("10 MB is the limit", func(t *testing.T) {
		const tenMB = 10 << 20
		large := append(append([]byte(nil), png...), make([]byte, tenMB-len(png))...)
		s.upload(large)
		_, err := s.ops.UploadImage(t.Context(), &catalogv1.UploadImageRequest{Content: append(large, 0)})
		require.Equal(t, map[string]string{"content": problem.FieldTooLong}, violations(t, err))
	})
}

func TestOnlyImagesInUseAreOpen(t *testing.T) {
	s := setup(t)
	id := s.upload(png)
	open := func() bool {
		_, err := s.images.GetImage(t.Context(), &catalogv1.GetImageRequest{FileId: id})
		if err != nil {
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		}
		return err == nil
	}
	require.False(t, open(), "no gift uses it")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.ImageFileIds, p.State = []string{id}, catalogv1.ProductState_PRODUCT_STATE_DRAFT
	})
	s.put(p)
	require.False(t, open(), "the gift is a draft")
	p.State = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
	s.put(p)
	require.True(t, open())
	c := campaign(offering(p.GetId(), catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND, nil, "S"))
	c.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	s.putCampaign(c)
	p.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	s.put(p)
	require.False(t, open(), "the gift left the catalog and its campaign is in preparation")
	for _, status := range []catalogv1.CampaignStatus{
		catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED,
	} {
		c.Status = status
		s.putCampaign(c)
		require.True(t, open(), "the campaign is %s", status)
	}
	for _, unknown := range []string{"", "../../etc/passwd", "ffffffffffffffffffffffffffffffff", "\x00"} {
		_, err := s.images.GetImage(t.Context(), &catalogv1.GetImageRequest{FileId: unknown})
		require.True(t, problem.Is(err, problem.NotFound), "%q: %v", unknown, err)
	}
}
