// Several commands that are sent as one. They are run in order and as a whole when EXEC arrives, so
// that a transaction that fails has charged nothing. They are not isolated: another client's
// command may be decided between two of them.
#include "wire/resp/commands.hpp"

namespace penstock::wire::resp {

// MULTI: OK. Later commands are answered with QUEUED, up to EXEC or DISCARD.
void multi(const CommandContext& context) {
  Transaction& transaction = context.session().transaction();
  if (transaction.is_open()) return context.error("ERR MULTI calls can not be nested");
  transaction.begin();
  context.reply().simple("OK");
}

// EXEC: an array of the replies to the queued commands, an error being one of them; or an error,
// when one of the commands was rejected before, and then none was run.
void exec(const CommandContext& context) {
  Transaction& transaction = context.session().transaction();
  if (!transaction.is_open()) return context.error("ERR EXEC without MULTI");
  if (transaction.state() == Transaction::State::Aborted) {
    transaction.discard();
    return context.error("EXECABORT Transaction discarded because of previous errors.");
  }
  context.reply().array(transaction.run());
}

// DISCARD: OK, and nothing is run.
void discard(const CommandContext& context) {
  Transaction& transaction = context.session().transaction();
  if (!transaction.is_open()) return context.error("ERR DISCARD without MULTI");
  transaction.discard();
  context.reply().simple("OK");
}

// WATCH key …: an error. Changes by other clients are not watched.
void watch(const CommandContext& context) {
  if (context.session().transaction().is_open()) {
    return context.error("ERR WATCH inside MULTI is not allowed");
  }
  context.error("ERR WATCH is not supported: MULTI and EXEC work without it");
}

// UNWATCH: OK; nothing is watched.
void unwatch(const CommandContext& context) { context.reply().simple("OK"); }

}  // namespace penstock::wire::resp
