-- An administrator must be able to act on a server whose memory is used up. The first write is one that
-- maxmemory lets pass; what comes after one passes too. No field is named like this.
redis.call('HDEL', meta, '')
