// What the console shows. Answers and events of the feed bring orders and links; the newest state of each wins.

const most = 50;

// Of a label, the API tells only who creates the link. The labels of this tab's links stay with its key.
const slot = "gifting-labels";
const labels = () => new Map(JSON.parse(sessionStorage.getItem(slot) ?? "[]"));

const none = () => ({ orders: new Map(), links: new Map(), labels: labels(), events: [], deliveries: [], campaigns: [] });

export const records = none();

export function clear() {
  sessionStorage.removeItem(slot);
  Object.assign(records, none());
}

export function addLabel(link, label) {
  records.labels.set(link.id, label);
  sessionStorage.setItem(slot, JSON.stringify([...records.labels].slice(-most)));
}

const newer = (a, b) => !b || (a.version ?? 0) > (b.version ?? 0) || ((a.version ?? 0) === (b.version ?? 0) && a.updatedAt >= b.updatedAt);

function put(map, record) {
  if (newer(record, map.get(record.id))) map.set(record.id, record);
  if (map.size > 2 * most) map.delete(map.keys().next().value); // The one that came first.
}

// latest are the newest records of a map.
export const latest = (map) => [...map.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(0, most);

// add takes an order, a link or a campaign that is shown, whichever it is.
export function add(record) {
  if (record?.claimUrl) put(records.links, record);
  else if (record?.reference) put(records.orders, record);
  else if (record?.offerings) records.campaigns = records.campaigns.map((shown) => (shown.id === record.id ? record : shown));
}

export function addEvents(events) {
  for (const event of events) add(event.data.order ?? event.data);
  records.events = [...events.toReversed(), ...records.events].slice(0, most);
}
