"""Open WebUI's table of chats: its shape, and its way to save a message.

The columns are those of its model, with the chat as a json column.  A message is
saved by reading the whole chat under a lock, changing it and writing it back, as
Chats.upsert_message_to_chat_by_id_and_message_id() does: once for the question,
once for an empty answer, and once for the finished answer.

# needs pip: sqlalchemy>=2.0.26 psycopg[binary]
"""

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, String, Text, create_engine, select
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy.orm.attributes import flag_modified

from app import hot, main, maker

CHATS, TURNS, CHANGES = 40, 20, 240

engine = create_engine("postgresql+psycopg://")
Base = declarative_base()


class Chat(Base):
    __tablename__ = "chat"
    id = Column(String, primary_key=True, unique=True)
    user_id = Column(String, index=True)
    title = Column(Text)
    chat = Column(JSON)
    created_at = Column(BigInteger, index=True)
    updated_at = Column(BigInteger, index=True)
    share_id = Column(Text, unique=True, nullable=True)
    archived = Column(Boolean, default=False)
    pinned = Column(Boolean, default=False, nullable=True)
    meta = Column(JSON, server_default="{}")
    folder_id = Column(Text, nullable=True)
    __table_args__ = (Index("folder_id_idx", "folder_id"), Index("user_id_archived_idx", "user_id", "archived"))


def upsert_message(session, chat_id, message_id, message):
    item = session.get(Chat, chat_id, with_for_update=True)
    history = item.chat["history"]
    messages = history["messages"]
    messages[message_id] = {**messages.get(message_id, {}), **message}
    parent = messages.get(message["parentId"])
    if parent and message_id not in parent["childrenIds"]:
        parent["childrenIds"].append(message_id)
    history["currentId"] = message_id
    item.updated_at += 1
    flag_modified(item, "chat")
    session.commit()


def messages_of(chat, turn, parent):
    """A question, and the answer to it."""
    m = maker("turn", chat, turn)
    question, answer = m.uuid(), m.uuid()
    return (question, {"id": question, "parentId": parent, "childrenIds": [], "role": "user",
                       "content": m.words(25), "timestamp": 1_700_000_000 + turn, "models": ["llama3.1:8b"]},
            answer, {"id": answer, "parentId": question, "childrenIds": [], "role": "assistant",
                     "content": m.words(200), "model": "llama3.1:8b", "modelName": "llama3.1:8b", "modelIdx": 0,
                     "timestamp": 1_700_000_001 + turn, "done": True,
                     "usage": {"prompt_tokens": m.rng.randrange(4000), "completion_tokens": m.rng.randrange(900),
                               "total_duration": m.rng.randrange(10 ** 10)}})


def make():
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for i in range(CHATS):
            parent, messages = None, {}
            for turn in range(TURNS):
                question, asked, answer, answered = messages_of(i, turn, parent)
                messages[question] = {**asked, "childrenIds": [answer]}
                if parent:
                    messages[parent]["childrenIds"].append(question)
                messages[answer], parent = answered, answer
            session.add(Chat(id=f"chat-{i}", user_id=f"user-{i % 7}", title=maker("title", i).words(5),
                             created_at=0, updated_at=0,
                             chat={"title": "a chat", "models": ["llama3.1:8b"], "params": {}, "files": [],
                                   "history": {"messages": messages, "currentId": parent}, "tags": []}))
        session.commit()
    engine.dispose()


def turn(turns):
    """A question and its answer: the whole chat is written three times."""
    with Session(engine) as session:
        for i in turns:
            chat_id = f"chat-{hot(i, CHATS)}"
            parent = session.get(Chat, chat_id).chat["history"]["currentId"]
            question, asked, answer, answered = messages_of(chat_id, TURNS + i, parent)
            upsert_message(session, chat_id, question, asked)
            upsert_message(session, chat_id, answer, {**answered, "content": "", "done": False})
            upsert_message(session, chat_id, answer, answered)
    engine.dispose()


def read():
    with Session(engine) as session:
        for item in session.scalars(select(Chat).order_by(Chat.id)):
            yield [item.id, item.title, item.chat, item.updated_at]
        for title, current in session.execute(
                select(Chat.title, Chat.chat[("history", "currentId")].as_string()).order_by(Chat.id)):
            yield [title, current]
    engine.dispose()


main(f"Open WebUI's table of chats, {CHATS} chats of {TURNS} turns at first", CHANGES, {"a turn": turn}, make, read)
