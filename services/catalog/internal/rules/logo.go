package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// LogosKept is how many of the latest logos of a brand stay open: enough that trying out some does not
// close the one in use.
const LogosKept = 20

// Logo names the brand of a logo.
type Logo struct {
	TenantID string
	BrandID  string
}

// ReadLogo validates the brand of a logo.
func ReadLogo(req *catalogv1.UploadBrandLogoRequest, errs *fields.Errors) Logo {
	return Logo{
		TenantID: RecordID("tenantId", req.GetTenantId(), errs),
		BrandID:  RecordID("brandId", req.GetBrandId(), errs),
	}
}
