import { Head } from '../../ui/head.tsx'

export const Inbox = () => <Head title="Inbox" />
