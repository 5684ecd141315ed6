import { navigate } from '../router.tsx'
import { searches } from '../searches.ts'
import { can, session } from '../session.ts'
import { Chooser, type ChooserOption } from '../ui/chooser.tsx'
import { visibleNavGroups } from './sidebar.tsx'

const looksLikeId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/i.test(text)

function findMatches(text: string): ChooserOption[] {
  const query = text.trim().toLowerCase()
  const linkTo = (name: string, hint: string, path: string): ChooserOption => ({ name, hint, choose: () => navigate(path) })
  const pages = visibleNavGroups(session.get())
    .flatMap(({ title, items }) => items.map((page) => linkTo(page.name, title ?? 'Page', page.to)))
    .concat(can('data.change') ? linkTo('Place order', 'Action', '/orders/new') : [])
    .filter(({ name }) => name.toLowerCase().includes(query))
  if (!query) return pages
  const isFullId = query.length === 36 && looksLikeId(query)
  const search = (list: 'orders' | 'users') => () => {
    searches[list].set(text.trim())
    navigate(`/${list}`)
  }
  return [
    ...(isFullId ? [linkTo('Open order by ID', 'Order', `/orders/${query}`)] : []),
    ...(isFullId ? [linkTo('Open user by ID', 'User', `/users/${query}`)] : []),
    ...pages,
    { name: `Search orders for “${text.trim()}”`, hint: 'Search', choose: search('orders') },
    { name: `Search users for “${text.trim()}”`, hint: 'Search', choose: search('users') },
  ]
}

export const Palette = ({ onClose }: { onClose: () => void }) => (
  <Chooser label="Search" placeholder="Search pages, names or IDs" find={findMatches} onClose={onClose} />
)
