// Several commands that are sent as one. They are run in order and as a whole when EXEC arrives, so
// that a transaction that fails has charged nothing. They are not isolated: another client's
// command may be decided between two of them.
#include "wire/resp/commands.hpp"

namespace penstock::wire::resp {

// MULTI: OK. What follows is answered with QUEUED, up to EXEC or DISCARD.
void multi(const Exchange& exchange) {
  Transaction& transaction = exchange.conversation().transaction();
  if (transaction.is_open()) return exchange.refuse("ERR MULTI calls can not be nested");
  transaction.begin();
  exchange.reply().simple("OK");
}

// EXEC: an array of the replies to the queued commands, an error being one of them; or an error,
// when one of the commands was refused before, and then none was run.
void exec(const Exchange& exchange) {
  Transaction& transaction = exchange.conversation().transaction();
  if (!transaction.is_open()) return exchange.refuse("ERR EXEC without MULTI");
  if (transaction.state() == Transaction::State::Aborted) {
    transaction.discard();
    return exchange.refuse("EXECABORT Transaction discarded because of previous errors.");
  }
  exchange.reply().array(transaction.run());
}

// DISCARD: OK, and nothing is run.
void discard(const Exchange& exchange) {
  Transaction& transaction = exchange.conversation().transaction();
  if (!transaction.is_open()) return exchange.refuse("ERR DISCARD without MULTI");
  transaction.discard();
  exchange.reply().simple("OK");
}

// WATCH key …: an error. What other clients do to a key is not watched.
void watch(const Exchange& exchange) {
  if (exchange.conversation().transaction().is_open()) {
    return exchange.refuse("ERR WATCH inside MULTI is not allowed");
  }
  exchange.refuse("ERR WATCH is not supported: MULTI and EXEC work without it");
}

// UNWATCH: OK; nothing is watched.
void unwatch(const Exchange& exchange) { exchange.reply().simple("OK"); }

}  // namespace penstock::wire::resp
