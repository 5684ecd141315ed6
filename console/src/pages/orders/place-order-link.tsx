import { Link } from '../../router.tsx'
import { can } from '../../session.ts'

export const PlaceOrderLink = ({ user_id }: { user_id?: string }) =>
  can('data.change') ? (
    <Link class="button primary" to={`/orders/new${user_id ? `?user_id=${user_id}` : ''}`}>
      Place order
    </Link>
  ) : null
