// What both programs send, and where to.
function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

export const url = variable("GIFTING_URL");
export const futureUrl = variable("FUTURE_URL");
export const key = variable("GIFTING_KEY");
const brandId = variable("GIFTING_BRAND_ID");

/** An order has exactly one item, which some generators express as a tuple. */
export function orderOf(externalOrderId: string, productId: string) {
  return {
    externalOrderId,
    brandId,
    items: [{ productId }] as [{ productId: string }],
    client: { name: "Ada Player" },
    recipient: {
      name: "Ada Player",
      phone: "+46701234567",
      address: { street: "Storgatan 1", city: "Stockholm", postalCode: "111 22", country: "SE" },
    },
  };
}
