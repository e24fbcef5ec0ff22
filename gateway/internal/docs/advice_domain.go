package docs

import "github.com/partnergifting/platform/pkg/problem"

// stateAdvice is on conflicts with what is there.
var stateAdvice = map[problem.Code]advice{
	problem.OutOfStock: {
		"The campaign has no stock left of the gift with these variations.",
		"Choose another variation or gift of the campaign. A later attempt needs a new `Idempotency-Key`.",
	},
	problem.ExternalOrderIDConflict: {
		"The tenant already has an order with this `externalOrderId`, perhaps placed by another key: all keys and brands of a tenant " +
			"share these ids. `orderId` names that order when the key can see it.",
		"If it is the order you meant to place, read it by `orderId`. Else choose another id; prefix ids per system.",
	},
	problem.NotEditable: {
		"Delivery details can be corrected only while the order is `PROCESSING`. `currentStatus` tells its status now.",
		"Read the order again. Before approval, or once it is sent, ask the service operator.",
	},
	problem.NotCancellable: {
		"The order is `SENT` or `COMPLETED`, or the personal link is `CLAIMED` or `EXPIRED`. `currentStatus` tells which.",
		"Read the record again. To stop a gift that is on its way, ask the service operator.",
	},
	problem.VersionConflict: {
		"`expectedVersion` is not the order's version: the order has changed since you read it.",
		"Read the order again, check that the correction is still right, and send it with the new `version`.",
	},
}

// referenceAdvice is on what a request refers to.
var referenceAdvice = map[problem.Code]advice{
	problem.BrandRequired: {
		"The order has neither `campaignId` nor `brandId`.",
		"Send one of them. `GET /brands` lists the brands of the key.",
	},
	problem.BrandNotFound: {
		"The brand does not exist, belongs to another tenant, or is none of the key's brands.",
		"Take an id from `GET /brands`.",
	},
	problem.BrandCampaignMismatch: {
		"`brandId` is not the brand of the campaign.",
		"Leave `brandId` out, or send the campaign's.",
	},
	problem.CampaignNotFound: {
		"The campaign does not exist, belongs to another tenant, or to a brand the key does not reach.",
		"Check `campaignId` and the brands of the key.",
	},
	problem.CampaignNotActive: {
		"The campaign is still in preparation, or completed.",
		"Use an active campaign.",
	},
	problem.ProductNotInCampaign: {
		"The campaign does not offer this gift.",
		"Choose one of the campaign's offerings, or order from the catalog with `brandId` instead of `campaignId`.",
	},
	problem.ProductNotAvailable: {
		"The gift is unknown, has left the catalog, or is suspended in the campaign.",
		"Load the catalog again and choose a gift that is `listed` and `available`.",
	},
	problem.ProductNotFound: {
		"`productIds` of a batch names a gift that is not in the catalog.",
		"Take the ids from `GET /catalog/products`.",
	},
	problem.NotDeliverableToCountry: {
		"The gift cannot be supplied to `recipient.address.country`.",
		"Choose a gift that is `available` in `GET /catalog/products` for that country.",
	},
	problem.InvalidVariations: {
		"`variations` does not have exactly one valid value for each dimension of the gift.",
		"Take dimensions and values from the gift's `variations`, spelled as they are there.",
	},
	problem.InvalidCustomFields: {
		"A required field of the tenant is unanswered, or an answer does not fit its field, such as a value that is no option of a " +
			"dropdown. An answer to an unknown `fieldId` is ignored.",
		"Read `tenant.customFields` of `GET /me` and answer with `textValue` for `TEXT` and `DROPDOWN`, `checked` for `CHECKBOX`.",
	},
	problem.ManagerNotFound: {
		"`managerEmail` names no active member of the tenant's team.",
		"Send the address of an active member, or leave the field out.",
	},
	problem.CountryChangeNotAllowed: {
		"A correction of delivery details would change `recipient.address.country`.",
		"Cancel the order and place a new one for the other country.",
	},
	problem.NoProducts: {
		"A batch with `brandId` has an empty `productIds`.",
		"Name at least one gift.",
	},
	problem.NoRecipients: {
		"A batch has no `recipients`.",
		"Send 1 to 1000 recipients.",
	},
	problem.TooManyRecipients: {
		"A batch has more than 1000 `recipients`. No link was created.",
		"Send several batches, each with its own `Idempotency-Key`.",
	},
}
