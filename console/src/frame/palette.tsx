import { go } from '../router.tsx'
import { searches } from '../searches.ts'
import { may, session } from '../session.ts'
import { Chooser, type Found } from '../ui/chooser.tsx'
import { reachable } from './side.tsx'

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/i.test(text)

/** Pages by name, and anything by its id. */
function matching(text: string): Found[] {
  const wanted = text.trim().toLowerCase()
  const to = (name: string, hint: string, path: string): Found => ({ name, hint, choose: () => go(path) })
  const pages = reachable(session.get())
    .flatMap(({ title, of }) => of.map((page) => to(page.name, title ?? 'Page', page.to)))
    .concat(may('data.change') ? to('Place an order', 'Action', '/orders/new') : [])
    .filter(({ name }) => name.toLowerCase().includes(wanted))
  if (!wanted) return pages
  const whole = wanted.length === 36 && isId(wanted)
  const search = (of: 'orders' | 'users') => () => {
    searches[of].set(text.trim())
    go(`/${of}`)
  }
  return [
    ...(whole ? [to('Open the order of this id', 'Order', `/orders/${wanted}`)] : []),
    ...(whole ? [to('Open the user of this id', 'User', `/users/${wanted}`)] : []),
    ...pages,
    { name: `Orders that match “${text.trim()}”`, hint: 'Search', choose: search('orders') },
    { name: `Users that match “${text.trim()}”`, hint: 'Search', choose: search('users') },
  ]
}

export const Palette = ({ onClose }: { onClose: () => void }) => (
  <Chooser label="Search or go to" placeholder="Type a page, a name or an id" find={matching} onClose={onClose} />
)
