import { newDeliveries } from '../../stand-in/deliveries.ts'

const kinds = [1, 2, 4, 16, 44, 46, 50, 51, 52, 54, 55, 58]

type Subscription = { userid: string; appli: number; callbackurl: string; comment: string }

/** The status that Withings sends for parameters that it does not accept. */
export const BAD_PARAMETERS = 503

/** The subscriptions of users, and the notifications to them. */
export function newNotifications(reach: (url: string) => string) {
  let subscriptions: Subscription[] = []
  const deliveries = newDeliveries(reach)
  const same = (a: Pick<Subscription, 'appli' | 'callbackurl'>, b: typeof a) => a.appli === b.appli && a.callbackurl === b.callbackurl

  /** A callback is an https URL of a domain, and responds to HEAD. */
  async function isAccepted(callbackurl: string) {
    const url = URL.parse(callbackurl)
    if (url?.protocol !== 'https:' || url.port || callbackurl.length > 255 || /^[\d.]+$|:/.test(url.hostname)) return false
    const response = await fetch(reach(callbackurl), { method: 'HEAD' }).catch(() => undefined)
    return response?.ok ?? false
  }

  /** Handles a request to /notify. Returns the status and the body of the response. */
  async function handle(userid: string, form: Record<string, string>): Promise<{ status: number; body?: object }> {
    const { action, callbackurl = '', appli = '', comment = '' } = form
    const one = { userid, appli: Number(appli), callbackurl, comment }
    const mine = subscriptions.filter((subscription) => subscription.userid === userid)
    if (action === 'list') return { status: 0, body: { profiles: mine.map(({ userid: _, ...shown }) => shown) } }
    if (action === 'subscribe') {
      if (!kinds.includes(one.appli) || !(await isAccepted(callbackurl))) return { status: BAD_PARAMETERS }
      subscriptions = [...subscriptions.filter((other) => other.userid !== userid || !same(other, one)), one]
      return { status: 0, body: {} }
    }
    if (action !== 'revoke' || !mine.some((other) => same(other, one))) return { status: BAD_PARAMETERS }
    subscriptions = subscriptions.filter((other) => other.userid !== userid || !same(other, one))
    return { status: 0, body: {} }
  }

  /** Queues a form for the subscriptions of a user to a kind. */
  function notify(userid: string, appli: number, fields: Record<string, string>) {
    for (const { callbackurl } of subscriptions.filter((one) => one.userid === userid && one.appli === appli))
      deliveries.add({
        url: callbackurl,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ userid, appli: String(appli), ...fields }).toString(),
      })
  }

  const subscriptionsOf = (userid: string) => subscriptions.filter((one) => one.userid === userid)
  const forget = (userid: string) => {
    subscriptions = subscriptions.filter((one) => one.userid !== userid)
  }
  const { deliver, take } = deliveries
  return { handle, notify, deliver, take, subscriptionsOf, forget, seed: (one: Subscription) => void subscriptions.push(one) }
}
