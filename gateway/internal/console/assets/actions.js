// What can be done with a record in its state. An action is a label, a path and the body to send.

const id = (record) => encodeURIComponent(record.id);

export function ofOrder(order) {
  const own = `/orders/${id(order)}`;
  const sandbox = (label, action, body) => ({ label, path: `/sandbox${own}:${action}`, body });
  const cancel = { label: "Cancel", path: `${own}:cancel`, body: { reason: "Cancelled in the sandbox console" } };
  return {
    REQUESTED: [sandbox("Approve", "approve"), cancel],
    PROCESSING: [sandbox("Dispatch", "dispatch"), cancel],
    SENT: [sandbox("Deliver", "deliver"), sandbox("Correct tracking", "correct-tracking")],
  }[order.status] ?? [];
}

export const statuses = ["REQUESTED", "PROCESSING", "SENT", "COMPLETED", "CANCELLED"];

export const correctStatus = (order, status) => ({ label: "Correct status", path: `/sandbox/orders/${id(order)}:correct-status`, body: { status } });
export const postMessage = (order, body) => ({ label: "Post message", path: `/sandbox/orders/${id(order)}:post-message`, body: { body } });

export function ofLink(link) {
  const own = `/personal-links/${id(link)}`;
  const cancel = { label: "Cancel", path: `${own}:cancel`, body: { reason: "Cancelled in the sandbox console" } };
  return {
    REQUESTED: [{ label: "Approve", path: `/sandbox${own}:approve` }, cancel],
    ACTIVE: [{ label: "Claim", path: `/sandbox${own}:claim` }, cancel],
  }[link.status] ?? [];
}

export const testWebhook = { label: "Test the webhook", path: "/webhooks:test" };
export const faults = ["429", "500", "503", "in-progress", "lost", "timeout"];

export const resend = (delivery) => ({ label: "Resend", path: `/webhooks/deliveries/${id(delivery)}:resend` });
export const setStock = (campaign, skuId, stockRemaining) => ({
  label: "Set stock", path: `/sandbox/campaigns/${id(campaign)}:set-stock`, body: { skuId, stockRemaining },
});
