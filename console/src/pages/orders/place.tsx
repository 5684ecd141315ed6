import { Head } from '../../ui/head.tsx'

export const PlaceOrder = () => <Head title="PlaceOrder" />
