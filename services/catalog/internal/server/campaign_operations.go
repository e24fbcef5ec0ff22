package server

import (
	"github.com/partnergifting/platform/pkg/fields"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// campaignRequest is a request that changes a campaign.
type campaignRequest interface {
	GetTenantId() string
	GetCampaignId() string
	GetActor() *commonv1.Actor
}

func readCampaignAct(req campaignRequest, action string, detail any, errs *fields.Errors) (tenantID string, act store.Act) {
	tenantID = errs.UUID("tenantId", req.GetTenantId())
	return tenantID, store.Act{
		Subject: errs.UUID("campaignId", req.GetCampaignId()), Actor: rules.ReadActor(req.GetActor(), errs),
		Action: action, Detail: detail,
	}
}
